// Package part has the parts that pages are made of: icons, states, shares, fields, notes
// and menus. Their classes are those of the stylesheet, handler/web/page/assets/guidon.css.
package part
