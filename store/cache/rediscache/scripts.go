package rediscache

import (
	"context"
	_ "embed"
	"time"

	"github.com/redis/go-redis/v9"
)

// The scripts, each atomic and about one key. lua/state.lua says what they share.
var (
	//go:embed lua/state.lua
	stateText string
	//go:embed lua/read.lua
	readText string
	//go:embed lua/fill.lua
	fillText string
	//go:embed lua/announce.lua
	announceText string
	//go:embed lua/take.lua
	takeText string
	//go:embed lua/keep.lua
	keepText string

	readScript     = redis.NewScript(stateText + readText)
	fillScript     = redis.NewScript(stateText + fillText)
	announceScript = redis.NewScript(stateText + announceText)
	takeScript     = redis.NewScript(takeText)
	keepScript     = redis.NewScript(keepText)
)

// run is one run of a script.
type run struct {
	key  string
	args []any
}

// scripted runs the script for each of the keys, in one round trip. The answers
// are in the order of the runs.
func (s *Source) scripted(ctx context.Context, script *redis.Script, runs ...run) (answers []string, err error) {
	err = s.roundTrip(ctx, runs[0].key, func(ctx context.Context) error {
		answers, err = evaluated(ctx, s.client, script, runs)
		return err
	})
	return answers, err
}

func evaluated(ctx context.Context, client redis.UniversalClient, script *redis.Script, runs []run) ([]string, error) {
	answers, err := pipelined(ctx, client, script.EvalSha, runs)
	if redis.HasErrorPrefix(err, "NOSCRIPT") { // a server that is new to us; those that did run may run again
		answers, err = pipelined(ctx, client, script.Eval, runs)
	}
	return answers, err
}

type evaluate func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

func pipelined(ctx context.Context, client redis.UniversalClient, evaluate evaluate, runs []run) ([]string, error) {
	pipe := client.Pipeline()
	commands := make([]*redis.Cmd, len(runs))
	for i, r := range runs {
		commands[i] = evaluate(ctx, pipe, []string{r.key}, r.args...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	answers := make([]string, len(commands))
	for i, c := range commands {
		var err error
		if answers[i], err = c.Text(); err != nil {
			return nil, err
		}
	}
	return answers, nil
}

// roundTrip gives Redis its time to answer, and notes whether it did. key is one
// of those that it is about.
func (s *Source) roundTrip(ctx context.Context, key string, ask func(ctx context.Context) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	begun := time.Now()
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err := ask(bounded)
	switch {
	case err == nil:
		s.health.answered()
	case ended(ctx) != nil: // nobody waits any more, which tells nothing about Redis
		return ended(ctx)
	default:
		s.stats.errors.Add(1)
		s.health.failed(begun, key, err)
	}
	return err
}

// ended is ctx.Err, and does not lag behind the deadline: that of the connection,
// which is the same, may be noticed first.
func ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

func milliseconds(d time.Duration) int64 { return d.Milliseconds() }
