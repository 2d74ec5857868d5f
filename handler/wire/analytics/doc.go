// Package analytics has the messages of evaluation counts, numbered as in contract 12.6.
package analytics
