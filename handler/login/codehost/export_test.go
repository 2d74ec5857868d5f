package codehost

// URLs returns where the host and its API are.
func (h *Host) URLs() (server, api string) { return h.server, h.api }
