package harness

import "time"

// Patience limits every wait of the tests. It is reached only if something is broken.
const Patience = 60 * time.Second

// Slack is added to the time limits that tests check, for busy machines.
const Slack = 2 * time.Second
