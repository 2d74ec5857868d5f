package server

import (
	"bytes"
	"testing"

	"google.golang.org/grpc/mem"
)

// TestWithoutWaste checks that a large response that waits for its client keeps no buffer
// of more than twice its length.
func TestWithoutWaste(t *testing.T) {
	pool := mem.DefaultBufferPool()
	for _, size := range []int{2 << 10, 33 << 10, 200 << 10, 600 << 10, 3 << 20} {
		buffer := pool.Get(size)
		for i := range *buffer {
			(*buffer)[i] = byte(i)
		}
		want := bytes.Clone(*buffer)
		data, from := withoutWaste(mem.BufferSlice{mem.NewBuffer(buffer, pool)})
		if !bytes.Equal(data, want) {
			t.Errorf("%d bytes: the response has changed", size)
		}
		if len(data) > maxPooled && cap(data) > 2*len(data) {
			t.Errorf("%d bytes keep %d", len(data), cap(data))
		}
		from.Free()
	}
}
