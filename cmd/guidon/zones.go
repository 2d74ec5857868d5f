package main

// The time zones that people choose: machines and containers need not have them. AWS Lambda
// has, so the function does not carry them.
import _ "time/tzdata"
