package server

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"

	"google.golang.org/grpc/grpclog"

	"github.com/guidonhq/guidon/cmd/internal/command/cli"
)

// grpcMessages receives the messages of the gRPC library, which has one logger for
// the whole process. They are dropped until a server sets a target.
var grpcMessages libraryLog

func init() { grpclog.SetLoggerV2(&grpcMessages) } // must run before any use of the library

// libraryLog forwards the messages of the gRPC library to a logger, if they have at
// least the level of log.grpc_level.
type libraryLog struct {
	target atomic.Pointer[libraryTarget]
}

type libraryTarget struct {
	logger *slog.Logger
	level  slog.Level
}

// to sets the logger for all further messages; nil drops them.
func (l *libraryLog) to(logger *slog.Logger, level slog.Level) {
	if logger == nil {
		l.target.Store(nil)
		return
	}
	l.target.Store(&libraryTarget{logger: logger, level: level})
}

func (l *libraryLog) log(level slog.Level, text func() string) {
	if t := l.target.Load(); t != nil && level >= t.level {
		t.logger.Log(context.Background(), level, "grpc library: "+text())
	}
}

func plain(args []any) func() string { return func() string { return fmt.Sprint(args...) } }

func line(args []any) func() string {
	return func() string {
		text := fmt.Sprintln(args...)
		return text[:len(text)-1]
	}
}

func formatted(format string, args []any) func() string {
	return func() string { return fmt.Sprintf(format, args...) }
}

// The methods of grpclog.LoggerV2.
func (l *libraryLog) Info(args ...any) { l.log(slog.LevelInfo, plain(args)) }

func (l *libraryLog) Infoln(args ...any) { l.log(slog.LevelInfo, line(args)) }

func (l *libraryLog) Infof(f string, args ...any) { l.log(slog.LevelInfo, formatted(f, args)) }

func (l *libraryLog) Warning(args ...any) { l.log(slog.LevelWarn, plain(args)) }

func (l *libraryLog) Warningln(args ...any) { l.log(slog.LevelWarn, line(args)) }

func (l *libraryLog) Warningf(f string, args ...any) { l.log(slog.LevelWarn, formatted(f, args)) }

func (l *libraryLog) Error(args ...any) { l.log(slog.LevelError, plain(args)) }

func (l *libraryLog) Errorln(args ...any) { l.log(slog.LevelError, line(args)) }

func (l *libraryLog) Errorf(f string, args ...any) { l.log(slog.LevelError, formatted(f, args)) }

func (l *libraryLog) Fatal(args ...any) { l.fatal(plain(args)) }

func (l *libraryLog) Fatalln(args ...any) { l.fatal(line(args)) }

func (l *libraryLog) Fatalf(f string, args ...any) { l.fatal(formatted(f, args)) }

// fatal ends the process, as grpclog.LoggerV2 requires.
func (l *libraryLog) fatal(text func() string) {
	l.log(slog.LevelError, text)
	os.Exit(cli.ExitFailure)
}

// V reports whether messages of the verbosity are logged.
func (l *libraryLog) V(verbosity int) bool {
	t := l.target.Load()
	return t != nil && verbosity == 0 && t.level <= slog.LevelInfo
}
