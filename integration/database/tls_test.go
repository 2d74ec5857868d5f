package database

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/integration/harness"
	"github.com/guidonhq/guidon/integration/harness/dbtest"
	"github.com/guidonhq/guidon/migrate"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store"
)

// TestDatabaseOverTLS: certificates are verified if the URL requires it, and a connection
// may have a password that was created for it.
func TestDatabaseOverTLS(t *testing.T) {
	for _, c := range []struct {
		name      string
		start     func(t *testing.T, key, certificate []byte) *dbtest.Server
		encrypted string // statement that counts the store's encrypted connections
		password  string // statement that changes the password of the user
		kick      string // statement that ends the connections of the user
		verify    string // parameters of the URL, to which the path of the CA file is appended
		lax       string // parameters that allow unencrypted connections
	}{
		{"postgres", startPostgresTLS, "SELECT COUNT(*) FROM pg_stat_ssl WHERE ssl",
			"ALTER USER guidon PASSWORD '%s'", "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'guidon'",
			"sslmode=verify-full&sslrootcert=", "sslmode=prefer"},
		{"mariadb", startMariaDBTLS, "SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'guidon'",
			"ALTER USER guidon IDENTIFIED BY '%s'", "KILL USER guidon",
			"ssl-mode=VERIFY_IDENTITY&ssl-ca=", "ssl-mode=PREFERRED"},
	} {
		t.Run(c.name, func(t *testing.T) {
			key, certificate := harness.SelfSigned(t)
			_, stranger := harness.SelfSigned(t)
			s := c.start(t, key, certificate)
			admin := harness.OpenStore(t, s.URL+adminDatabase(c.name)).SQL()
			address := func(parameters string, authority []byte) string {
				u, err := url.Parse(s.URL)
				if err != nil {
					t.Fatal(err)
				}
				scheme, _, _ := strings.Cut(s.URL, ":")
				if authority != nil {
					path := filepath.Join(t.TempDir(), "authority.pem")
					if err := os.WriteFile(path, authority, 0o600); err != nil {
						t.Fatal(err)
					}
					parameters += url.QueryEscape(path)
				}
				return scheme + "://guidon:unused@" + u.Host + "/guidon?" + parameters
			}

			var password atomic.Value
			var requested atomic.Int64
			change := func(to string) {
				harness.Execute(t, admin, fmt.Sprintf(c.password, to))
				password.Store(to)
			}
			options := store.Options{ConnectTimeout: 5 * time.Second, Password: func(_ context.Context, at, user string) (string, error) {
				requested.Add(1)
				if at != s.Addr || user != "guidon" {
					t.Errorf("requested the password of %s at %s", user, at)
				}
				return password.Load().(string), nil
			}}
			change("first")

			db, err := store.Open(t.Context(), address(c.verify, certificate), options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = db.Close() })
			if _, err := migrate.Up(t.Context(), db.SQL(), db.Dialect()); err != nil {
				t.Fatal(err)
			}
			putCounter(t, db)
			var encrypted int
			if err := db.SQL().QueryRowContext(t.Context(), c.encrypted).Scan(&encrypted); err != nil || encrypted == 0 {
				t.Errorf("%d connections are encrypted, %v", encrypted, err)
			}

			none := options
			none.Password = func(context.Context, string, string) (string, error) { return "", errors.New("no credentials") }
			without, err := store.Open(t.Context(), address(c.verify, certificate), none)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = without.Close() })
			if err := without.Ping(t.Context()); !errors.Is(err, guidon.Unavailable) {
				t.Errorf("without a password: got %v, want Unavailable", err)
			}

			before := requested.Load()
			change("second")
			harness.Execute(t, admin, c.kick)
			putAnother(t, db)
			if requested.Load() == before {
				t.Error("new connections did not request the password")
			}

			wrong, err := store.Open(t.Context(), address(c.verify, stranger), options)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = wrong.Close() })
			if err := wrong.Ping(t.Context()); !errors.Is(err, guidon.Unavailable) {
				t.Errorf("a certificate of another authority: got %v, want Unavailable", err)
			}
			if _, err := store.Open(t.Context(), address(c.lax, nil), options); err == nil || !strings.Contains(err.Error(), "require TLS") {
				t.Errorf("a password for each connection, perhaps in the clear: got %v, want a refusal", err)
			}
		})
	}
}

func putAnother(t *testing.T, db *store.DB) {
	t.Helper()
	_, err := db.Update(t.Context(), guidon.DefaultNamespace, service.Write{}, func(ctx context.Context, tx service.Tx) error {
		return tx.PutFlag(ctx, &guidon.Flag{Key: "another"})
	})
	if err != nil {
		t.Fatal(err)
	}
}

func adminDatabase(kind string) string {
	if kind == "mariadb" {
		return "mysql"
	}
	return ""
}

// startPostgresTLS starts a server that accepts the user guidon, the owner of a database of
// the same name, only over TLS and with a password.
func startPostgresTLS(t *testing.T, key, certificate []byte) *dbtest.Server {
	s := harness.StartPrivate(t, func() (*dbtest.Server, error) { return dbtest.Postgres(t.Context()) })
	files := map[string]string{"key.pem": string(key), "certificate.pem": string(certificate),
		"hba": "hostssl all guidon 127.0.0.1/32 scram-sha-256\nhost all postgres 127.0.0.1/32 trust\n"}
	for name, content := range files {
		path, err := s.WriteFile(name, content)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = path
	}
	admin := harness.OpenStore(t, s.URL).SQL()
	for _, statement := range []string{
		"CREATE USER guidon", "CREATE DATABASE guidon OWNER guidon", "GRANT pg_read_all_stats TO guidon",
		"ALTER SYSTEM SET ssl_key_file = '" + files["key.pem"] + "'", "ALTER SYSTEM SET ssl_cert_file = '" + files["certificate.pem"] + "'",
		"ALTER SYSTEM SET hba_file = '" + files["hba"] + "'", "ALTER SYSTEM SET ssl = on",
	} {
		harness.Execute(t, admin, statement)
	}
	s.Stop()
	if err := s.Restart(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s
}

// startMariaDBTLS is startPostgresTLS for MariaDB.
func startMariaDBTLS(t *testing.T, key, certificate []byte) *dbtest.Server {
	dir := harness.OpenDir(t) // the server may run as another user; the key is worthless
	flags := []string{}
	for name, content := range map[string][]byte{"ssl-key": key, "ssl-cert": certificate} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o644); err != nil {
			t.Fatal(err)
		}
		flags = append(flags, "--"+name+"="+path)
	}
	s := harness.StartPrivate(t, func() (*dbtest.Server, error) { return dbtest.MariaDB(t.Context(), flags...) })
	admin := harness.OpenStore(t, s.URL+"mysql").SQL()
	for _, statement := range []string{
		"CREATE DATABASE guidon", "CREATE USER guidon REQUIRE SSL", "GRANT ALL ON guidon.* TO guidon",
	} {
		harness.Execute(t, admin, statement)
	}
	return s
}
