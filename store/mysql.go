package store

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"time"

	"github.com/go-sql-driver/mysql"
)

var mysqlDialect = &dialect{
	name:   "mysql",
	ping:   "SELECT 1",
	shared: true,
	// The isolation level is set for each session, because no statement both begins a
	// transaction and sets its level.
	beginWrite: "START TRANSACTION",
	beginRead:  "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY",
	batch:      mysqlBatch,
	unions:     true,
	failure:    mysqlFailure,
}

const (
	mysqlWriterSession = "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED"
	mysqlReaderSession = "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ"
)

// mysqlAbandonment returns the statement that limits for how long a session keeps a transaction
// whose client is gone. MySQL has a limit only for whole sessions, which must be longer than
// that of the pool.
func mysqlAbandonment(o Options) string {
	session := 365 * 24 * time.Hour // the most that the server takes
	if o.ConnMaxIdleTime > 0 {
		session = min(o.ConnMaxIdleTime+30*time.Second, session)
	}
	transaction := o.abandonment() + time.Second - 1
	return fmt.Sprintf("SET SESSION /*M!100300 idle_transaction_timeout = %d, */ wait_timeout = %d",
		transaction/time.Second, session/time.Second)
}

// mysqlNumber returns the number of an error of the server, or 0.
func mysqlNumber(err error) uint16 {
	if e, ok := errors.AsType[*mysql.MySQLError](err); ok {
		return e.Number
	}
	return 0
}

// mysqlFailures are the failures by the number of the error.
var mysqlFailures = map[uint16]failure{
	1062: uniqueFailure,
	1213: busyFailure, 1020: busyFailure, // deadlock, record changed since the snapshot
	1205: busyFailure,                    // lock wait timeout; we roll back what the server did not
	3101: busyFailure, 1180: busyFailure, // a cluster, or the engine, rolled the COMMIT back
	1040: busyFailure, 1203: busyFailure, 1226: busyFailure, // too many connections: in total, of the user, by quota
	1053: lostFailure, 1927: lostFailure, 3169: lostFailure, 4031: lostFailure, // shutdown, killed, killed, idle for too long
	1021: fullFailure, 1114: fullFailure,
	1290: readOnlyFailure, 1792: readOnlyFailure, 1836: readOnlyFailure,
	1317: slowFailure, 1969: slowFailure, 3024: slowFailure, // interrupted, statement time exceeded
	1129: {message: messageRejects},                                  // the host is blocked for now
	1044: refusedFailure, 1045: refusedFailure, 1698: refusedFailure, // database, password, authentication method
	1049: refusedFailure, 1130: refusedFailure, // no such database, host not allowed
}

func mysqlFailure(err error) failure {
	switch {
	case errors.Is(err, mysql.ErrInvalidConn), errors.Is(err, driver.ErrBadConn):
		return lostFailure
	case errors.Is(err, mysql.ErrNoTLS):
		return refusedFailure
	}
	return mysqlFailures[mysqlNumber(err)]
}

// mysqlPacket is the maximum size of a statement with interpolated arguments. Above
// it, the driver sends the arguments one by one, in pieces, so that the server's
// max_allowed_packet, 16 MiB on MariaDB, limits each of them alone.
const mysqlPacket = 4<<20 - 1<<10

// openMySQL completes the configuration and returns the DB. It does not connect.
func openMySQL(config *mysql.Config, options Options) (*DB, error) {
	options = options.forServer()
	config.Timeout = cmp.Or(config.Timeout, options.ConnectTimeout)
	if options.Password != nil {
		if err := setPasswordCallback(config, options); err != nil {
			return nil, err
		}
	}
	config.ClientFoundRows = true   // count the row of an UPDATE that changes nothing
	config.InterpolateParams = true // one round trip instead of three
	config.MaxAllowedPacket = mysqlPacket
	config.Collation = "utf8mb4_bin"
	config.AllowAllFiles = false
	config.RejectReadOnly = true // leave a server that became a replica for the new primary
	config.Logger = &mysql.NopLogger{}
	if config.Params == nil {
		config.Params = map[string]string{}
	}
	// A value that does not fit is an error, and every character has the meaning that
	// the driver's escaping assumes.
	config.Params["sql_mode"] = "'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION,ERROR_FOR_DIVISION_BY_ZERO'"
	writer, err := mysqlConnector(config, true, mysqlWriterSession+"; "+mysqlAbandonment(options), options)
	if err != nil {
		return nil, err
	}
	reader, err := mysqlConnector(config, false, mysqlReaderSession, options)
	if err != nil {
		return nil, err
	}
	return newServerDB(mysqlDialect, config.Addr+"/"+config.DBName, writer, reader, options), nil
}

// setPasswordCallback makes the driver get a password for each connection. The
// password is sent in clear text, inside TLS: the server does not store it, so
// nothing derived from it could be checked.
func setPasswordCallback(config *mysql.Config, options Options) error {
	if config.TLS == nil || config.AllowFallbackToPlaintext {
		return errUnencrypted("tls=true or ssl-mode=VERIFY_IDENTITY")
	}
	config.AllowCleartextPasswords = true
	err := config.Apply(mysql.BeforeConnect(func(ctx context.Context, c *mysql.Config) (err error) {
		c.Passwd, err = options.password(ctx, c.Addr, c.User)
		return err
	}))
	if err != nil {
		return fmt.Errorf("database URL: %w", err)
	}
	return nil
}

// mysqlConnector returns the connector of one pool. Only the writer, which runs
// batches, may send several statements in one string.
func mysqlConnector(config *mysql.Config, batches bool, session string, options Options) (driver.Connector, error) {
	config = config.Clone()
	config.MultiStatements = batches
	connect, err := mysql.NewConnector(config)
	if err != nil {
		return nil, fmt.Errorf("database URL: %w", err)
	}
	return &connector{Connector: connect, timeout: options.ConnectTimeout, session: session}, nil
}
