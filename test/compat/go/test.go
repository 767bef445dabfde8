package main

import (
	"context"
	"fmt"
	"net/http"
	"reflect"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// A failure ends a check; it travels as a panic to runCheck, as does a panic of the libraries.
type failure string

type test struct{}

func (t *test) fail(format string, arguments ...any) {
	panic(failure(fmt.Sprintf(format, arguments...)))
}

func (t *test) must(err error, what string) {
	if err != nil {
		t.fail("%s: %v", what, err)
	}
}

func (t *test) equal(what string, got, want any) {
	if !reflect.DeepEqual(got, want) {
		t.fail("%s: got %#v, want %#v", what, got, want)
	}
}

func (t *test) that(holds bool, what string) {
	if !holds {
		t.fail("not so: %s", what)
	}
}

// refused fails unless err is of the kind that is tells.
func (t *test) refused(what string, err error, is func(error) bool) {
	if err == nil {
		t.fail("%s was not refused", what)
	}
	if !is(err) {
		t.fail("%s: refused with another error: %v", what, err)
	}
}

// eventually waits until it holds, or the check's time is over.
func (t *test) eventually(ctx context.Context, what string, holds func(ctx context.Context) (bool, error)) {
	err := wait.PollUntilContextCancel(ctx, pollInterval, true, holds)
	if err != nil {
		t.fail("%s: %v", what, err)
	}
}

// stays fails when it does not hold all of the time.
func (t *test) stays(ctx context.Context, what string, duration time.Duration, holds func(ctx context.Context) (bool, error)) {
	end := time.Now().Add(duration)
	for time.Now().Before(end) {
		held, err := holds(ctx)
		t.must(err, what)
		t.that(held, what)
		time.Sleep(pollInterval)
	}
}

// An exchange is what a check may want to know of a request that its client sent.
type exchange struct {
	method, path, query string
	sent, accepted      string
	status              int
	received            string
}

// The wire writes down what clients really send and get.
type wire struct {
	mutex     sync.Mutex
	exchanges []exchange
}

type roundTripper struct {
	wire *wire
	next http.RoundTripper
}

func (w *wire) wrap(next http.RoundTripper) http.RoundTripper {
	return &roundTripper{wire: w, next: next}
}

func (r *roundTripper) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := r.next.RoundTrip(request)
	if err != nil {
		return response, err
	}
	r.wire.mutex.Lock()
	defer r.wire.mutex.Unlock()
	r.wire.exchanges = append(r.wire.exchanges, exchange{
		method: request.Method, path: request.URL.Path, query: request.URL.RawQuery,
		sent: request.Header.Get("Content-Type"), accepted: request.Header.Get("Accept"),
		status: response.StatusCode, received: response.Header.Get("Content-Type"),
	})
	return response, err
}

// seen counts the exchanges that match.
func (w *wire) seen(matches func(exchange) bool) int {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	count := 0
	for _, one := range w.exchanges {
		if matches(one) {
			count++
		}
	}
	return count
}
