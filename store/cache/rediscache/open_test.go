package rediscache_test

import (
	"crypto/tls"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/guidonhq/guidon/store/cache/rediscache"
)

// opened holds the options of a client that depend on the URL.
type opened struct {
	Kind, Network     string
	Addrs             []string
	Username, Secret  string
	DB                int
	TLS, Verified     bool
	Repeats, Deadline bool
}

func TestOpen(t *testing.T) {
	const single, cluster, sentinel = rediscache.ModeSingle, rediscache.ModeCluster, rediscache.ModeSentinel
	for _, tt := range []struct {
		mode, url string
		want      opened
	}{
		{single, "redis://localhost", opened{Kind: "client", Network: "tcp", Addrs: []string{"localhost:6379"}}},
		{"", "redis://u:p%2F%40@cache.example:7000/3", opened{Kind: "client", Network: "tcp", Addrs: []string{"cache.example:7000"}, Username: "u", Secret: "p/@", DB: 3}},
		{single, "rediss://cache.example", opened{Kind: "client", Network: "tcp", Addrs: []string{"cache.example:6379"}, TLS: true, Verified: true}},
		{single, "unix:///run/redis.sock?db=2", opened{Kind: "client", Network: "unix", Addrs: []string{"/run/redis.sock"}, DB: 2}},
		// The configuration endpoint of a cluster is one address.
		{cluster, "rediss://u:p@cluster.example:6379", opened{Kind: "cluster", Addrs: []string{"cluster.example:6379"}, Username: "u", Secret: "p", TLS: true, Verified: true}},
		// Replicas lag behind, so reads never go to them, whatever the URL says.
		{cluster, "redis://a:1?addr=b:2&read_only=true&max_retries=9", opened{Kind: "cluster", Addrs: []string{"a:1", "b:2"}}},
		{sentinel, "redis://su:sp@s1:26379/4?master_name=main&addr=s2:26379&username=u&password=p&replica_only=true",
			opened{Kind: "client", Network: "tcp", Addrs: []string{"FailoverClient"}, Username: "u", Secret: "p", DB: 4}},
	} {
		client, err := rediscache.Open(rediscache.Connection{URL: tt.url, Mode: tt.mode})
		if err != nil {
			t.Errorf("%s: %v", tt.url, err)
			continue
		}
		defer client.Close()
		var got opened
		var secure *tls.Config
		switch c := client.(type) {
		case *redis.Client:
			o := c.Options()
			got = opened{
				Kind: "client", Network: o.Network, Addrs: []string{o.Addr}, Username: o.Username, Secret: o.Password, DB: o.DB,
				Repeats: o.MaxRetries > 0, Deadline: o.ContextTimeoutEnabled,
			}
			secure = o.TLSConfig
		case *redis.ClusterClient:
			o := c.Options()
			got = opened{
				Kind: "cluster", Addrs: o.Addrs, Username: o.Username, Secret: o.Password,
				Repeats: o.MaxRetries > 0 || o.ReadOnly || o.RouteRandomly || o.RouteByLatency, Deadline: o.ContextTimeoutEnabled,
			}
			secure = o.TLSConfig
		}
		got.TLS = secure != nil
		got.Verified = got.TLS && !secure.InsecureSkipVerify && secure.ServerName != ""
		tt.want.Deadline = true
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", tt.mode, tt.url, diff)
		}
	}
}

// An error says what is wrong but contains nothing of the URL, which may hold a
// password.
func TestOpenRefuses(t *testing.T) {
	const secret = "s3cr3t"
	for _, tt := range []struct {
		c    rediscache.Connection
		want string
	}{
		{rediscache.Connection{URL: secret}, "invalid URL"},
		{rediscache.Connection{URL: "redis://u:" + secret + "/x@host"}, "invalid URL"},
		{rediscache.Connection{URL: "redis://u:p@host:" + secret}, "invalid URL"},
		{rediscache.Connection{URL: "redis://host?" + secret + "=1"}, "invalid URL"},
		{rediscache.Connection{URL: "http://u:" + secret + "@host"}, "invalid URL"},
		{rediscache.Connection{URL: "unix://" + secret, Mode: rediscache.ModeCluster}, "invalid URL"},
		{rediscache.Connection{URL: "redis://u:" + secret + "@host", Mode: rediscache.ModeSentinel}, "master_name"},
		{rediscache.Connection{URL: "redis://u:" + secret + "@host", CAFile: "open_test.go"}, "rediss://"},
		{rediscache.Connection{URL: "rediss://u:" + secret + "@host", CAFile: "open_test.go"}, "no certificate"},
		{rediscache.Connection{URL: "rediss://u:" + secret + "@host", CAFile: filepath.Join(t.TempDir(), "nothing")}, "no such file"},
	} {
		client, err := rediscache.Open(tt.c)
		if err == nil {
			client.Close()
			t.Errorf("%s: accepted", tt.c.URL)
		} else if !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), secret) {
			t.Errorf("%s: got %v, want an error with %q", tt.c.URL, err, tt.want)
		}
	}
}
