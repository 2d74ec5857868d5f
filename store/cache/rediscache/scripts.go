package rediscache

import (
	"context"
	_ "embed"
	"strings"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// The scripts. Each is atomic, and returns one reply for each of its keys, in order. Their
// hashes are computed when one is first run: most processes have no Redis.
var (
	//go:embed lua/state.lua
	stateText string
	//go:embed lua/read.lua
	readText string
	//go:embed lua/fill.lua
	fillText string
	//go:embed lua/announce.lua
	announceText string
	//go:embed lua/get_snapshot.lua
	getSnapshotText string
	//go:embed lua/put_snapshot.lua
	putSnapshotText string
	//go:embed lua/each.lua
	eachText string

	readScript        = script(stateText, readText, eachText)
	fillScript        = script(stateText, fillText, eachText)
	announceScript    = script(stateText, announceText, eachText)
	getSnapshotScript = script(getSnapshotText, eachText)
	putSnapshotScript = script(putSnapshotText, eachText)
)

// script returns the script that consists of the texts.
func script(texts ...string) func() *redis.Script {
	return sync.OnceValue(func() *redis.Script { return redis.NewScript(strings.Join(texts, "")) })
}

// run holds the arguments of one run of a script.
type run struct {
	keys []string // only one if the server is a cluster
	args []any
}

// runScript runs the script once for each of runs, in one round trip. The replies are
// in the order of the runs and their keys.
func (s *Source) runScript(ctx context.Context, script func() *redis.Script, runs ...run) (answers []string, err error) {
	err = s.roundTrip(ctx, "EVALSHA", runs[0].keys[0], func(ctx context.Context) error {
		answers, err = eval(ctx, s.client, script, runs)
		return err
	})
	return answers, err
}

func eval(ctx context.Context, client redis.UniversalClient, script func() *redis.Script, runs []run) ([]string, error) {
	answers, err := evalPipelined(ctx, client, script().EvalSha, runs)
	if redis.HasErrorPrefix(err, "NOSCRIPT") { // the server does not have the script yet; runs that succeeded may be repeated
		answers, err = evalPipelined(ctx, client, script().Eval, runs)
	}
	return answers, err
}

type evalFunc func(ctx context.Context, c redis.Scripter, keys []string, args ...any) *redis.Cmd

func evalPipelined(ctx context.Context, client redis.UniversalClient, evaluate evalFunc, runs []run) ([]string, error) {
	pipe := client.Pipeline()
	commands := make([]*redis.Cmd, len(runs))
	for i, r := range runs {
		commands[i] = evaluate(ctx, pipe, r.keys, r.args...)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	var answers []string
	for _, c := range commands {
		some, err := c.StringSlice()
		if err != nil {
			return nil, err
		}
		answers = append(answers, some...)
	}
	return answers, nil
}

// roundTrip runs do with the timeout for Redis and records whether it succeeded. command is
// the name of its first command, and key one of the keys that it uses.
func (s *Source) roundTrip(ctx context.Context, command, key string, do func(ctx context.Context) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.trace != nil {
		if ended := s.trace(ctx, "redis"); ended != nil {
			defer func() { ended(command, err) }()
		}
	}
	begun := time.Now()
	bounded, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	err = do(bounded)
	switch {
	case err == nil:
		s.health.answered()
	case ended(ctx) != nil: // the caller no longer waits, which says nothing about Redis
		return ended(ctx)
	default:
		s.stats.errors.Add(1)
		s.health.failed(begun, key, err)
	}
	return err
}

// ended is ctx.Err, but does not lag behind the deadline: the connection has the same
// one, and may notice it first.
func ended(ctx context.Context) error {
	if deadline, ok := ctx.Deadline(); ok && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

func milliseconds(d time.Duration) int64 { return d.Milliseconds() }
