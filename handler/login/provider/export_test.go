package provider

import "time"

// SetTimeout replaces [Timeout], for tests that wait for it.
func (c *Client) SetTimeout(d time.Duration) { c.http.Timeout = d }
