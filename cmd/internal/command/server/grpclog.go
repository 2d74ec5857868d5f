package server

import (
	"context"
	"io"
	"log/slog"
	"strings"
	"sync/atomic"

	"google.golang.org/grpc/grpclog"
)

// grpcMessages receives the messages of the gRPC library, which has one logger for
// the whole process. They are dropped until a server sets a target.
var grpcMessages libraryLog

func init() { grpclog.SetLoggerV2(grpcMessages.library()) } // must run before any use of the library

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

// library returns the logger for the library, which writes the messages of all severities.
func (l *libraryLog) library() grpclog.LoggerV2 {
	return grpclog.NewLoggerV2(l, io.Discard, io.Discard)
}

// severities are the levels of the words before the messages that the library writes.
var severities = map[string]slog.Level{"INFO": slog.LevelInfo, "WARNING": slog.LevelWarn}

// Write forwards a line such as "2026/11/29 07:00:00 INFO: [core] text".
func (l *libraryLog) Write(line []byte) (int, error) {
	t := l.target.Load()
	if t == nil {
		return len(line), nil
	}
	head, text, _ := strings.Cut(strings.TrimSuffix(string(line), "\n"), ": ")
	level, minor := severities[head[strings.LastIndexByte(head, ' ')+1:]]
	if !minor {
		level = slog.LevelError
	}
	if level >= t.level {
		t.logger.Log(context.Background(), level, "grpc library: "+text)
	}
	return len(line), nil
}
