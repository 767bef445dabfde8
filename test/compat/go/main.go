// What programs built on client-go do, against a running API server. Every check gets a namespace of its own and ends with
// one line on standard output, `ok <name>` or `FAIL <name>: <why>`. A line `RESTART` asks whoever started the program to
// restart the server; any line on standard input says that it is back.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/metadata"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	checkTimeout = 120 * time.Second
	pollInterval = 25 * time.Millisecond
)

// A cluster is one server as its clients see it, in a namespace of the check's own.
type cluster struct {
	config    *rest.Config
	kube      kubernetes.Interface
	dynamic   dynamic.Interface
	metadata  metadata.Interface
	discovery discovery.DiscoveryInterface
	wire      *wire
	namespace string
	stdin     *bufio.Reader
}

type check struct {
	name string
	run  func(ctx context.Context, t *test, c *cluster)
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "how to reach the server")
	only := flag.String("only", "", "run the checks whose name begins so")
	flag.Parse()
	if err := run(*kubeconfig, *only); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(kubeconfig, only string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.UserAgent = "clientgo-checks/1.0"
	// The limits of client-go would be most of the time that the checks take.
	config.QPS = -1
	stdin := bufio.NewReader(os.Stdin)
	failed := 0
	for _, check := range allChecks() {
		if !strings.HasPrefix(check.name, only) {
			continue
		}
		if why := runCheck(check, config, stdin); why != "" {
			failed++
			fmt.Printf("FAIL %s: %s\n", check.name, strings.ReplaceAll(why, "\n", "\\n"))
		} else {
			fmt.Printf("ok %s\n", check.name)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d checks failed", failed)
	}
	return nil
}

func allChecks() []check {
	var all []check
	for _, some := range [][]check{
		typedChecks, dynamicChecks, listChecks, watchChecks, informerChecks, applyChecks, deletionChecks,
		subresourceChecks, discoveryChecks, identityChecks, webhookChecks, leaderChecks, restartChecks,
	} {
		all = append(all, some...)
	}
	return all
}

func runCheck(check check, config *rest.Config, stdin *bufio.Reader) (why string) {
	ctx, cancel := context.WithTimeout(context.Background(), checkTimeout)
	defer cancel()
	t := &test{}
	defer func() {
		if reason := recover(); reason != nil {
			why = fmt.Sprint(reason)
		}
	}()
	c := connect(t, config)
	c.stdin = stdin
	namespace, err := c.kube.CoreV1().Namespaces().Create(ctx, &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{GenerateName: strings.ReplaceAll(check.name, "/", "-") + "-"},
	}, metav1.CreateOptions{})
	t.must(err, "create the namespace")
	c.namespace = namespace.Name
	check.run(ctx, t, c)
	return ""
}

func connect(t *test, base *rest.Config) *cluster {
	c := &cluster{config: rest.CopyConfig(base), wire: &wire{}}
	c.config.Wrap(c.wire.wrap)
	var err error
	c.kube, err = kubernetes.NewForConfig(c.config)
	t.must(err, "typed client")
	c.dynamic, err = dynamic.NewForConfig(c.config)
	t.must(err, "dynamic client")
	c.metadata, err = metadata.NewForConfig(c.config)
	t.must(err, "metadata client")
	c.discovery, err = discovery.NewDiscoveryClientForConfig(c.config)
	t.must(err, "discovery client")
	return c
}
