package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strings"
)

// confirm shows what is about to happen and returns nil when it may: because of
// --yes, or because a person at a terminal says so.
func (p *program) confirm(what string, yes bool) error {
	if yes {
		return nil
	}
	fmt.Fprint(p.err, what)
	if !p.terminal(p.in) || !p.terminal(p.err) {
		return errors.New("nothing was changed: there is no terminal to ask at; run again with --yes to go ahead")
	}
	fmt.Fprint(p.err, "Go ahead? Type yes: ")
	answer, err := bufio.NewReader(io.LimitReader(p.input, 100)).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	if strings.TrimSpace(strings.ToLower(answer)) != "yes" {
		return errors.New("nothing was changed: not confirmed")
	}
	return nil
}
