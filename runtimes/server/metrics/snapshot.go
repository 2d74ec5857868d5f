package metrics

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// omittedFlags counts the flags that client-side snapshots leave out, by namespace. Those
// without any have no entry.
type omittedFlags struct {
	mu         sync.Mutex
	namespaces map[string]int
}

func newOmittedFlags(registry prometheus.Registerer) *omittedFlags {
	o := &omittedFlags{namespaces: map[string]int{}}
	registry.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "guidon_snapshot_omitted_flags",
		Help: "Flags that the newest snapshots for client-side evaluation leave out, because only the server can evaluate them.",
	}, o.sum))
	return o
}

// SnapshotRequested notes how many flags the snapshot of the namespace leaves out.
func (m *Registry) SnapshotRequested(namespace string, omitted int) {
	m.omitted.mu.Lock()
	defer m.omitted.mu.Unlock()
	if omitted > 0 {
		m.omitted.namespaces[namespace] = omitted
	} else {
		delete(m.omitted.namespaces, namespace)
	}
}

func (o *omittedFlags) sum() float64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	sum := 0
	for _, n := range o.namespaces {
		sum += n
	}
	return float64(sum)
}
