package kafka

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/change"
	"github.com/guidonhq/guidon/deliver"
	"github.com/guidonhq/guidon/deliver/audit"
	"github.com/guidonhq/guidon/service"
	"github.com/guidonhq/guidon/store/storetest"
)

func newCluster(t *testing.T, options ...kfake.Opt) *kfake.Cluster {
	t.Helper()
	cluster, err := kfake.NewCluster(append(options, kfake.NumBrokers(1), kfake.SeedTopics(4, "audit"))...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return cluster
}

func newProducer(t *testing.T, c Config) *Producer {
	t.Helper()
	c.Topic = "audit"
	p, err := NewProducer(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func parcelOf(t *testing.T, p *Producer, keys ...string) *deliver.Parcel {
	t.Helper()
	b := &deliver.Batch{Namespace: "shop"}
	for i, key := range keys {
		b.Records = append(b.Records, &change.Record{
			Namespace: "shop", Revision: 7, Sequence: int32(i), Kind: change.KindFlag, Key: key, Action: change.ActionCreate,
			At: time.Unix(1e9, 0), After: json.RawMessage(`{"key":"` + key + `"}`),
		})
	}
	body, err := p.Encode(b)
	if err != nil {
		t.Fatal(err)
	}
	return &deliver.Parcel{Namespace: "shop", Revision: 7, Body: body, Past: b.Records[len(b.Records)-1]}
}

// read returns the next n records of the topic.
func read(t *testing.T, n int, options ...kgo.Opt) (records []*kgo.Record) {
	t.Helper()
	client, err := kgo.NewClient(append(options, kgo.ConsumeTopics("audit"))...)
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for len(records) < n {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err(); err != nil {
			t.Fatalf("after %d records: %v", len(records), err)
		}
		records = append(records, fetches.Records()...)
	}
	return records
}

// A record of the topic is a CloudEvent in JSON, with the namespace as its key.
func TestRecords(t *testing.T) {
	cluster := newCluster(t)
	p := newProducer(t, Config{Servers: cluster.ListenAddrs(), PublicURL: "https://flags.example"})
	if problem, _, err := p.Send(t.Context(), parcelOf(t, p, "a", "b")); problem != "" || err != nil {
		t.Fatalf("got %q, %v", problem, err)
	}
	var got []string
	for _, r := range read(t, 2, kgo.SeedBrokers(cluster.ListenAddrs()...)) {
		var event struct{ SpecVersion, ID, Source, Type, Subject string }
		if err := json.Unmarshal(r.Value, &event); err != nil {
			t.Fatalf("%s: %v", r.Value, err)
		}
		got = append(got, fmt.Sprintf("%s %s=%s %s %+v", r.Key, r.Headers[0].Key, r.Headers[0].Value, r.Timestamp.UTC().Format(time.RFC3339), event))
	}
	const common = "shop content-type=application/cloudevents+json; charset=utf-8 2001-09-09T01:46:40Z {SpecVersion:1.0 ID:7."
	const rest = " Source:https://flags.example/namespaces/shop Type:guidon.change Subject:flag/"
	if diff := cmp.Diff([]string{common + "0" + rest + "a}", common + "1" + rest + "b}"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a broker refuses is a problem, and so is one that does not answer. The end of the context is an error.
func TestProblems(t *testing.T) {
	cluster := newCluster(t)
	p := newProducer(t, Config{Servers: cluster.ListenAddrs()})
	refuse := func(code int16) {
		cluster.ControlKey(int16(kmsg.Produce), func(request kmsg.Request) (kmsg.Response, error, bool) {
			response := request.ResponseKind().(*kmsg.ProduceResponse)
			for _, topic := range request.(*kmsg.ProduceRequest).Topics {
				answer := kmsg.ProduceResponseTopic{Topic: topic.Topic, TopicID: topic.TopicID}
				for _, part := range topic.Partitions {
					answer.Partitions = append(answer.Partitions, kmsg.ProduceResponseTopicPartition{Partition: part.Partition, ErrorCode: code})
				}
				response.Topics = append(response.Topics, answer)
			}
			return response, nil, true
		})
	}
	refuse(kerr.TopicAuthorizationFailed.Code)
	if problem, _, err := p.Send(t.Context(), parcelOf(t, p, "a")); !strings.Contains(problem, "TOPIC_AUTHORIZATION_FAILED") || err != nil {
		t.Errorf("refused: got %q, %v", problem, err)
	}
	if problem, _, err := p.Send(t.Context(), parcelOf(t, p, "b")); problem != "" || err != nil {
		t.Errorf("after a refusal: got %q, %v", problem, err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cancel()
		<-t.Context().Done()
		return nil, errors.New("too late"), true
	})
	if problem, _, err := p.Send(ctx, parcelOf(t, p, "c")); problem != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: got %q, %v", problem, err)
	}
}

// The service authenticates itself by each mechanism, over TLS.
func TestAuthentication(t *testing.T) {
	t.Parallel()
	server := httptest.NewUnstartedServer(nil)
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AddCert(server.Certificate())
	client := &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}
	for _, mechanism := range []string{"PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"} {
		t.Run(mechanism, func(t *testing.T) {
			t.Parallel()
			cluster := newCluster(t, kfake.EnableSASL(), kfake.Superuser(mechanism, "ada", "secret"),
				kfake.TLS(&tls.Config{Certificates: server.TLS.Certificates, MinVersion: tls.VersionTLS12}))
			c := Config{Servers: cluster.ListenAddrs(), TLS: client, Mechanism: mechanism, Username: "ada", Password: "secret"}
			p := newProducer(t, c)
			if problem, _, err := p.Send(t.Context(), parcelOf(t, p, "a")); problem != "" || err != nil {
				t.Errorf("got %q, %v", problem, err)
			}
			c.Password = "wrong"
			p = newProducer(t, c)
			if problem, _, err := p.Send(t.Context(), parcelOf(t, p, "a")); problem == "" || strings.HasPrefix(problem, "no answer") || strings.Contains(problem, "wrong") || err != nil {
				t.Errorf("wrong password: got %q, %v", problem, err)
			}
		})
	}
}

// Nothing is lost, and the order of a namespace is kept, while the broker drops every second connection.
func TestBrokerGoesAway(t *testing.T) {
	t.Parallel()
	const changes = 20
	cluster := newCluster(t)
	requests := 0
	cluster.ControlKey(int16(kmsg.Produce), func(kmsg.Request) (kmsg.Response, error, bool) {
		cluster.KeepControl()
		requests++
		return nil, errors.New("gone"), requests%2 == 1
	})
	db := storetest.NewSQLite(t)
	filter, _, err := audit.ParseFilter([]string{"flag:*"})
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.NewTextHandler(t.Output(), nil))
	sink := audit.NewSink("kafka", newProducer(t, Config{Servers: cluster.ListenAddrs()}), filter, db, logger)
	if err := db.RegisterReader(t.Context(), sink.Reader()); err != nil {
		t.Fatal(err)
	}
	runner := deliver.NewRunner("audit", db, func(context.Context) ([]deliver.Target, error) { return []deliver.Target{sink}, nil }, logger)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() {
		if err := runner.Run(ctx); err != nil {
			t.Error(err)
		}
	})
	defer running.Wait()
	defer cancel()
	var want []string
	for i := range changes {
		key := fmt.Sprintf("f%02d", i)
		want = append(want, "flag/"+key)
		if _, _, err := service.NewService(db, time.Now).CreateFlag(t.Context(), service.Write{}, "default", guidon.Flag{Key: key, Name: key}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, r := range read(t, changes, kgo.SeedBrokers(cluster.ListenAddrs()...)) {
		var event struct{ Subject string }
		if err := json.Unmarshal(r.Value, &event); err != nil {
			t.Fatal(err)
		}
		got = append(got, event.Subject)
	}
	if diff := cmp.Diff(want, slices.Compact(got)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
