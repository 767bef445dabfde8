package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/util/retry"
)

const protobuf = "application/vnd.kubernetes.protobuf"

var typedChecks = []check{
	{"typed/crud", typedCrud},
	{"typed/json", typedJson},
	{"typed/round-trip", typedRoundTrip},
	{"typed/patches", typedPatches},
	{"typed/errors", typedErrors},
	{"typed/retry-on-conflict", typedRetryOnConflict},
	{"typed/every-group", typedEveryGroup},
	{"typed/dry-run", typedDryRun},
}

func configMap(name string, data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: data}
}

func deployment(name string, replicas int32) *appsv1.Deployment {
	labels := map[string]string{"app": name}
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/main:1"}}},
			},
		},
	}
}

func pod(name string, labels map[string]string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "main", Image: "example/main:1"}}},
	}
}

// Typed clients of built-in kinds speak protobuf both ways.
func typedCrud(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	created, err := client.Create(ctx, configMap("one", map[string]string{"a": "1"}), metav1.CreateOptions{})
	t.must(err, "create")
	t.that(created.UID != "" && created.ResourceVersion != "" && !created.CreationTimestamp.IsZero(), "the server names what it made")
	read, err := client.Get(ctx, "one", metav1.GetOptions{})
	t.must(err, "get")
	t.equal("what was read", read, created)

	read.Data["b"] = "2"
	read.BinaryData = map[string][]byte{"raw": {0, 1, 255}}
	updated, err := client.Update(ctx, read, metav1.UpdateOptions{})
	t.must(err, "update")
	t.equal("data", updated.Data, map[string]string{"a": "1", "b": "2"})
	t.equal("binary data", updated.BinaryData["raw"], []byte{0, 1, 255})
	t.that(updated.ResourceVersion != created.ResourceVersion, "an update moves the resource version")
	t.equal("uid", updated.UID, created.UID)

	generated, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "some-"}}, metav1.CreateOptions{})
	t.must(err, "create by generateName")
	t.that(strings.HasPrefix(generated.Name, "some-") && len(generated.Name) == len("some-")+5, "a name was generated")

	list, err := client.List(ctx, metav1.ListOptions{})
	t.must(err, "list")
	names := []string{}
	for _, item := range list.Items {
		if item.Name != "kube-root-ca.crt" {
			names = append(names, item.Name)
		}
	}
	t.equal("names", names, []string{"one", generated.Name})

	t.must(client.Delete(ctx, "one", metav1.DeleteOptions{}), "delete")
	_, err = client.Get(ctx, "one", metav1.GetOptions{})
	t.refused("reading what was deleted", err, apierrors.IsNotFound)

	t.that(c.wire.seen(func(e exchange) bool {
		return e.method == "POST" && strings.HasSuffix(e.path, "/configmaps") && e.sent == protobuf && e.received == protobuf
	}) == 2, "creates were sent and answered in protobuf")
	t.that(c.wire.seen(func(e exchange) bool { return e.method == "GET" && e.status == 200 && e.received != protobuf }) == 0, "everything read was protobuf")
}

func typedJson(ctx context.Context, t *test, c *cluster) {
	config := *c.config
	config.ContentType = "application/json"
	config.AcceptContentTypes = "application/json"
	inJson := connect(t, &config)
	client := inJson.kube.AppsV1().Deployments(c.namespace)
	made, err := client.Create(ctx, deployment("web", 2), metav1.CreateOptions{})
	t.must(err, "create in JSON")
	inProtobuf, err := c.kube.AppsV1().Deployments(c.namespace).Get(ctx, "web", metav1.GetOptions{})
	t.must(err, "get in protobuf")
	t.equal("the same object in both encodings", inProtobuf, made)
	t.that(inJson.wire.seen(func(e exchange) bool { return e.received == "application/json" }) > 0, "it was JSON")
}

// Defaults come back through the real decoder, and what was sent comes back unchanged.
func typedRoundTrip(ctx context.Context, t *test, c *cluster) {
	sent := pod("full", map[string]string{"a": "b"})
	zero := int64(0)
	sent.Spec.TerminationGracePeriodSeconds = &zero
	sent.Spec.Containers[0].Resources.Requests = corev1.ResourceList{"cpu": resource.MustParse("1500m"), "memory": resource.MustParse("1Gi")}
	sent.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}}
	sent.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
		HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromString("web")},
	}}
	got, err := c.kube.CoreV1().Pods(c.namespace).Create(ctx, sent, metav1.CreateOptions{})
	t.must(err, "create")
	t.equal("grace, which is zero and not unset", *got.Spec.TerminationGracePeriodSeconds, int64(0))
	t.equal("restart policy by default", got.Spec.RestartPolicy, corev1.RestartPolicyAlways)
	container := got.Spec.Containers[0]
	t.equal("protocol by default", container.Ports[0].Protocol, corev1.ProtocolTCP)
	t.equal("cpu", container.Resources.Requests.Cpu().MilliValue(), int64(1500))
	t.equal("memory", container.Resources.Requests.Memory().Value(), int64(1<<30))
	t.equal("port of the probe", container.LivenessProbe.HTTPGet.Port, intstr.FromString("web"))
	t.equal("threshold by default", container.LivenessProbe.FailureThreshold, int32(3))
	t.equal("phase", got.Status.Phase, corev1.PodPending)
	t.equal("quality of service", got.Status.QOSClass, corev1.PodQOSBurstable)
}

func typedPatches(ctx context.Context, t *test, c *cluster) {
	client := c.kube.AppsV1().Deployments(c.namespace)
	_, err := client.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	t.must(err, "create")
	for _, patch := range []struct {
		kind types.PatchType
		text string
	}{
		{types.JSONPatchType, `[{"op":"replace","path":"/spec/replicas","value":2}]`},
		{types.MergePatchType, `{"metadata":{"annotations":{"note":"x"}}}`},
		{types.StrategicMergePatchType, `{"spec":{"template":{"spec":{"containers":[{"name":"side","image":"example/side:1"}]}}}}`},
	} {
		_, err := client.Patch(ctx, "web", patch.kind, []byte(patch.text), metav1.PatchOptions{})
		t.must(err, string(patch.kind))
	}
	got, err := client.Get(ctx, "web", metav1.GetOptions{})
	t.must(err, "get")
	t.equal("replicas", *got.Spec.Replicas, int32(2))
	t.equal("annotation", got.Annotations["note"], "x")
	names := []string{}
	for _, container := range got.Spec.Template.Spec.Containers {
		names = append(names, container.Name)
	}
	t.equal("containers, merged by name", names, []string{"side", "main"})
	t.equal("generation, which counts changes of the specification", got.Generation, int64(3))
}

func typedErrors(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	made, err := client.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
	t.must(err, "create")
	_, err = client.Create(ctx, configMap("one", nil), metav1.CreateOptions{})
	t.refused("a second object of the name", err, apierrors.IsAlreadyExists)
	_, err = client.Create(ctx, configMap("Not A Name", nil), metav1.CreateOptions{})
	t.refused("a wrong name", err, apierrors.IsInvalid)
	t.that(apierrors.HasStatusCause(err, metav1.CauseTypeFieldValueInvalid), "the cause is a wrong value")
	_, err = c.kube.CoreV1().ConfigMaps("nowhere").Create(ctx, configMap("one", nil), metav1.CreateOptions{})
	t.refused("a namespace that is not there", err, apierrors.IsNotFound)
	stale := made.DeepCopy()
	made.Data = map[string]string{"a": "1"}
	_, err = client.Update(ctx, made, metav1.UpdateOptions{})
	t.must(err, "update")
	stale.Data = map[string]string{"a": "2"}
	_, err = client.Update(ctx, stale, metav1.UpdateOptions{})
	t.refused("an update of an older version", err, apierrors.IsConflict)
	_, err = client.Patch(ctx, "one", types.JSONPatchType, []byte(`[{"op":"test","path":"/data/a","value":"9"}]`), metav1.PatchOptions{})
	t.refused("a failing test", err, apierrors.IsInvalid)
	_, err = client.List(ctx, metav1.ListOptions{LabelSelector: "a in ("})
	t.refused("a broken selector", err, apierrors.IsBadRequest)
	_, err = client.List(ctx, metav1.ListOptions{ResourceVersion: "99999999999", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan})
	t.refused("a version from the future", err, apierrors.IsTimeout)
	_, seconds := apierrors.SuggestsClientDelay(err)
	t.that(seconds || apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge), "clients can tell that the version is too large")
}

func typedRetryOnConflict(ctx context.Context, t *test, c *cluster) {
	const workers, rounds = 8, 10
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	_, err := client.Create(ctx, configMap("counter", map[string]string{"n": "0"}), metav1.CreateOptions{})
	t.must(err, "create")
	var group sync.WaitGroup
	errors := make(chan error, workers)
	backoff := retry.DefaultBackoff
	backoff.Steps = 1000
	for range workers {
		group.Add(1)
		go func() {
			defer group.Done()
			for range rounds {
				err := retry.RetryOnConflict(backoff, func() error {
					counter, err := client.Get(ctx, "counter", metav1.GetOptions{})
					if err != nil {
						return err
					}
					n, err := strconv.Atoi(counter.Data["n"])
					if err != nil {
						return err
					}
					counter.Data["n"] = strconv.Itoa(n + 1)
					_, err = client.Update(ctx, counter, metav1.UpdateOptions{})
					return err
				})
				if err != nil {
					errors <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(errors)
	for err := range errors {
		t.must(err, "count")
	}
	counter, err := client.Get(ctx, "counter", metav1.GetOptions{})
	t.must(err, "get")
	t.equal("the sum, in which no update is lost", counter.Data["n"], strconv.Itoa(workers*rounds))
}

// Lists of every resource that is served, through the typed client's codec where there is one.
func typedEveryGroup(ctx context.Context, t *test, c *cluster) {
	_, resources, err := c.discovery.ServerGroupsAndResources()
	t.must(err, "discovery")
	listed := 0
	for _, list := range resources {
		version, err := parseGroupVersion(list.GroupVersion)
		t.must(err, list.GroupVersion)
		prefix := "/apis/" + list.GroupVersion
		if version.Group == "" {
			prefix = "/api/" + version.Version
		}
		for _, one := range list.APIResources {
			if strings.Contains(one.Name, "/") || !contains(one.Verbs, "list") {
				continue
			}
			if !scheme.Scheme.Recognizes(version.WithKind(one.Kind)) {
				continue
			}
			request := c.kube.CoreV1().RESTClient().Get().AbsPath(prefix, one.Name).SetHeader("Accept", protobuf)
			result := request.Do(ctx)
			object, err := result.Get()
			t.must(err, fmt.Sprintf("list %s %s", list.GroupVersion, one.Name))
			t.equal("type of "+one.Name, fmt.Sprintf("%T", object), fmt.Sprintf("*%s.%sList", version.Version, one.Kind))
			listed++
		}
	}
	t.that(listed > 50, fmt.Sprintf("more than 50 kinds, not %d", listed))
}

func typedDryRun(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	made, err := client.Create(ctx, configMap("ghost", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	t.must(err, "create")
	t.that(made.UID != "", "the answer looks as if it were made")
	_, err = client.Get(ctx, "ghost", metav1.GetOptions{})
	t.refused("reading what was never made", err, apierrors.IsNotFound)
}
