package service_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/guidonhq/guidon"
	"github.com/guidonhq/guidon/service"
)

// workload is the identity of a pod whose proof expires at the given time.
func workload(expires time.Time) *service.Identity {
	return &service.Identity{
		Method: service.MethodKubernetes, Subject: "kubernetes:serviceaccount:shop/checkout", Subjects: []string{"kubernetes:namespace:shop"},
		Metadata: map[string]string{"io.service.auth.k8s.namespace": "shop"}, Expires: expires,
	}
}

// TestExchange: a workload that proves itself again and again, anywhere and at once, has one
// record, which is written once.
func TestExchange(t *testing.T) {
	dbs := twoStores(t)
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	both := [2]*service.Service{}
	for i, db := range dbs {
		both[i] = service.NewService(db, time.Now).WithPolicy(usualPolicy())
	}
	token := service.TokenOf([32]byte{1})
	var exchanging sync.WaitGroup
	for i := range 16 {
		exchanging.Go(func() {
			a, err := both[i%2].Exchange(t.Context(), service.Write{}, workload(expires), token)
			if err != nil || a.Subject != "kubernetes:serviceaccount:shop/checkout" || !a.ExpiresAt.Equal(expires) || a.Client != "" {
				t.Errorf("got %+v, %v", a, err)
			}
		})
	}
	exchanging.Wait()
	a := mustAuthenticate(t, both[0], token)
	wantIDs(t, "after many", both[1], a)
	if roles(a) != "client@*" || strings.Contains(a.ID, token) {
		t.Errorf("got %+v", a)
	}
	set, _, err := dbs[0].Authentications(t.Context(), service.Demand{}, "")
	if err != nil || set.Revision().Number != 1 {
		t.Errorf("the authentications are at revision %d, %v, want one write", set.Revision().Number, err)
	}
	if _, err := both[0].Exchange(t.Context(), service.Write{}, workload(expires), service.TokenOf([32]byte{2})); err != nil {
		t.Fatal(err)
	}
	if n := len(allAuthentications(t, both[0])); n != 2 {
		t.Errorf("another proof: %d records, want 2", n)
	}
	if err := both[0].DeleteAuthentication(t.Context(), service.Write{}, a.ID); err != nil {
		t.Fatal(err)
	}
	_, _, err = both[1].Authenticate(t.Context(), service.Demand{}, "", token)
	wantCode(t, "deleted", err, guidon.Unauthenticated)
	if again, err := both[1].Exchange(t.Context(), service.Write{}, workload(expires), token); err != nil || again.ID != a.ID {
		t.Errorf("after the deletion: got %+v, %v", again, err)
	}
}

// TestExchangeAgain: a record that ended before its proof, by the maximum lifetime, lives
// again; its creation stays.
func TestExchangeAgain(t *testing.T) {
	s := newSignInService(t)
	token := service.TokenOf([32]byte{1})
	first, err := s.Exchange(t.Context(), service.Write{}, workload(time.Now().Add(-time.Second)), token)
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = s.Authenticate(t.Context(), service.Demand{}, "", token)
	wantCode(t, "ended", err, guidon.Unauthenticated)
	expires := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	again, err := s.Exchange(t.Context(), service.Write{}, workload(expires), token)
	if err != nil || again.ID != first.ID || !again.ExpiresAt.Equal(expires) || !again.CreatedAt.Equal(first.CreatedAt) || again.UpdatedAt.Before(again.CreatedAt) {
		t.Errorf("got %+v, %v, after %+v", again, err, first)
	}
	mustAuthenticate(t, s, token)
	wantIDs(t, "after both", s, first)
}

func TestExchangeRefused(t *testing.T) {
	db := newStore(t)
	for name, p := range map[string]*service.Policy{
		"not allowed":  {Enforced: true, Defaults: usual, Admissions: map[string]service.Admission{"kubernetes": service.ServiceAccounts{"pay/*"}}},
		"no role":      {Enforced: true, Admissions: everyone},
		"switched off": {Enforced: true, Defaults: usual},
	} {
		s := service.NewService(db, time.Now).WithPolicy(p)
		a, err := s.Exchange(t.Context(), service.Write{}, workload(time.Now().Add(time.Hour)), service.TokenOf([32]byte{1}))
		if wantCode(t, name, err, guidon.PermissionDenied); a != nil {
			t.Errorf("%s: got %+v", name, a)
		}
		wantIDs(t, name, s)
	}
}
