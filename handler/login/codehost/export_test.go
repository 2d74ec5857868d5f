package codehost

import "time"

// SetTimeout replaces the limit of one sign-in.
func (h *Host) SetTimeout(d time.Duration) { h.timeout = d }

// URLs returns where the host and its API are.
func (h *Host) URLs() (server, api string) { return h.server, h.api }

// Timeout returns the limit of one sign-in.
func (h *Host) Timeout() time.Duration { return h.timeout }
