package diagnostics

import (
	"context"
	"io"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/handler/call"
	"github.com/guidonhq/guidon/handler/exchange"
	"github.com/guidonhq/guidon/service"
)

// BackupPath is the path of the route for backups.
const BackupPath = "/meta/backup"

// OpenBackup makes a copy of the database and returns it with its size in bytes. Closing the
// copy deletes it.
type OpenBackup func(ctx context.Context) (copied io.ReadCloser, size int64, err error)

// Backup returns the route for a copy of the database, for administrators of the whole
// instance. One copy is made at a time. required states that credentials are required.
//
// The copy has the keys of this service and the secrets of webhooks, which nothing else shows.
func Backup(open OpenBackup, required bool) exchange.Plain {
	var one sync.Mutex
	return exchange.Plain{Method: http.MethodGet, Pattern: BackupPath, AnyHost: required, Secret: true, Serve: func(x *exchange.Exchange) {
		if required {
			if err := require(x, service.RoleAdmin, service.Everywhere); err != nil {
				x.ReplyError(err)
				return
			}
		}
		if !one.TryLock() {
			x.ReplyError(guidon.Errorf(guidon.Unavailable, "another backup is being made; try again later"))
			return
		}
		defer one.Unlock()
		if err := sendBackup(x, open); err != nil {
			x.ReplyError(err)
		}
	}}
}

// slowest is how many bytes per second a client must receive on average, after a minute of
// grace: others cannot make a backup meanwhile, and the copy takes space.
const slowest = 64 << 10

// sendBackup makes a copy and sends it. The length makes clients notice if it is cut off.
func sendBackup(x *exchange.Exchange, open OpenBackup) error {
	copied, size, err := open(x.Request.Context())
	if err != nil {
		return err
	}
	defer copied.Close()
	header := x.Header()
	header.Set("Content-Type", "application/vnd.sqlite3")
	header.Set("Content-Length", strconv.FormatInt(size, 10))
	header.Set("Content-Disposition", `attachment; filename="guidon-backup.db"`)
	header.Set("Cache-Control", "no-store")
	x.WriteHeader(http.StatusOK)
	end := time.Now().Add(time.Minute + time.Duration(size/slowest)*time.Second)
	x.WritePieces(func(out io.Writer) (err error) {
		for err == nil && time.Now().Before(end) {
			_, err = io.CopyN(out, copied, call.MaxWhole)
		}
		return err
	})
	return nil
}
