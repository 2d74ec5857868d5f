// Package part has the parts that pages are made of: icons, states, shares, fields, notes
// and menus. Their classes are those of the style sheet, handler/web/page/assets/styles.
//
// Buttons in a row are in one order: leaving without a change, other actions, and last the primary
// button or the dangerous one. A row with the class "buttons" ends a form and is on the right. In
// a narrow card, such as that for signing in, buttons are below each other, the primary one first.
// A button that a module shows stands after the others, so that none of them moves.
package part
