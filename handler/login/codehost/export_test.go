package codehost

import (
	"time"
)

// SetTimeout replaces the limit of one sign-in.
func (h *Host) SetTimeout(d time.Duration) { h.timeout = d }

// URLs returns where the host and its API are.
func (h *Host) URLs() (server, api string) { return h.server, h.api }

// SignInTimeout is the limit of one sign-in.
const SignInTimeout = signInTimeout

// NormalizeEmail returns the address in lower case, or "" if it is not one.
func NormalizeEmail(raw string) string { return normalizeEmail(raw) }

// DomainOf returns the domain of a normalized address.
func DomainOf(email string) string { return domainOf(email) }

// LowerASCII returns the text with its ASCII letters in lower case.
func LowerASCII(text string) string { return lowerASCII(text) }
