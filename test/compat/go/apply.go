package main

import (
	"context"
	"encoding/json"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	appsv1apply "k8s.io/client-go/applyconfigurations/apps/v1"
	autoscalingv1apply "k8s.io/client-go/applyconfigurations/autoscaling/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	metav1apply "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/util/csaupgrade"
)

var applyChecks = []check{
	{"apply/create-and-remove", applyCreateAndRemove},
	{"apply/conflict", applyConflict},
	{"apply/extract", applyExtract},
	{"apply/status", applyStatus},
	{"apply/scale", applyScale},
	{"apply/custom-resource", applyCustomResource},
	{"apply/from-client-side", applyFromClientSide},
}

func appliedDeployment(namespace string, containers ...*corev1apply.ContainerApplyConfiguration) *appsv1apply.DeploymentApplyConfiguration {
	labels := map[string]string{"app": "web"}
	return appsv1apply.Deployment("web", namespace).WithSpec(appsv1apply.DeploymentSpec().
		WithSelector(metav1apply.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1apply.PodTemplateSpec().WithLabels(labels).WithSpec(corev1apply.PodSpec().WithContainers(containers...))))
}

func container(name string) *corev1apply.ContainerApplyConfiguration {
	return corev1apply.Container().WithName(name).WithImage("example/" + name + ":1")
}

func by(manager string) metav1.ApplyOptions { return metav1.ApplyOptions{FieldManager: manager} }

func containerNames(d *appsv1.Deployment) string {
	names := []string{}
	for _, one := range d.Spec.Template.Spec.Containers {
		names = append(names, one.Name)
	}
	return strings.Join(names, " ")
}

func applyCreateAndRemove(ctx context.Context, t *test, c *cluster) {
	client := c.kube.AppsV1().Deployments(c.namespace)
	first, err := client.Apply(ctx, appliedDeployment(c.namespace, container("main"), container("side")), by("one"))
	t.must(err, "apply what is not there")
	t.equal("containers", containerNames(first), "main side")
	again, err := client.Apply(ctx, appliedDeployment(c.namespace, container("main"), container("side")), by("one"))
	t.must(err, "apply again")
	t.equal("version, which the same configuration does not move", again.ResourceVersion, first.ResourceVersion)
	_, err = client.Apply(ctx, appliedDeployment(c.namespace, container("other")), by("two"))
	t.must(err, "apply a container of another manager")
	last, err := client.Apply(ctx, appliedDeployment(c.namespace, container("main")), by("one"))
	t.must(err, "apply without one container")
	t.equal("containers: what one manager no longer wants goes, what the other wants stays", containerNames(last), "main other")
	_, err = client.Apply(ctx, appliedDeployment(c.namespace, container("main")).WithUID("00000000-0000-0000-0000-000000000000"), by("one"))
	t.refused("another uid", err, apierrors.IsInvalid)
	_, err = c.kube.CoreV1().ConfigMaps(c.namespace).Apply(ctx, corev1apply.ConfigMap("none", c.namespace).WithUID("00000000-0000-0000-0000-000000000000"), by("one"))
	t.refused("a uid where nothing is", err, apierrors.IsConflict)
}

func applyConflict(ctx context.Context, t *test, c *cluster) {
	client := c.kube.AppsV1().Deployments(c.namespace)
	wanted := func(replicas int32) *appsv1apply.DeploymentApplyConfiguration {
		one := appliedDeployment(c.namespace, container("main"))
		one.Spec.WithReplicas(replicas)
		return one
	}
	_, err := client.Apply(ctx, wanted(1), by("one"))
	t.must(err, "apply")
	_, err = client.Apply(ctx, wanted(2), by("two"))
	t.refused("another value of another manager's field", err, apierrors.IsConflict)
	t.that(apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict), "the cause is the conflict")
	cause, _ := apierrors.StatusCause(err, metav1.CauseTypeFieldManagerConflict)
	t.equal("the field", cause.Field, ".spec.replicas")
	_, err = client.Apply(ctx, wanted(1), by("two"))
	t.must(err, "the same value is shared")
	_, err = client.Apply(ctx, wanted(3), metav1.ApplyOptions{FieldManager: "two", Force: true})
	t.must(err, "force")
	now, err := client.Apply(ctx, appliedDeployment(c.namespace, container("main")), by("one"))
	t.must(err, "leave the field to the other one")
	t.equal("replicas", *now.Spec.Replicas, int32(3))
}

// What a manager wants can be read back from what the server recorded, and applied again.
func applyExtract(ctx context.Context, t *test, c *cluster) {
	client := c.kube.AppsV1().Deployments(c.namespace)
	wanted := appliedDeployment(c.namespace, container("main"))
	got, err := client.Apply(ctx, wanted, by("one"))
	t.must(err, "apply")
	extracted, err := appsv1apply.ExtractDeployment(got, "one")
	t.must(err, "extract")
	t.equal("what was applied", asJson(t, extracted), asJson(t, wanted))

	// The same for untyped clients, which go by the document of /openapi/v2.
	extractor, err := metav1apply.NewUnstructuredExtractor(c.discovery)
	t.must(err, "extractor")
	read, err := c.dynamic.Resource(deployments).Namespace(c.namespace).Get(ctx, "web", metav1.GetOptions{})
	t.must(err, "get")
	untyped, err := extractor.Extract(read, "one")
	t.must(err, "extract untyped")
	t.equal("what was applied, untyped", asJson(t, untyped), asJson(t, wanted))
}

// asJson is the JSON of a value with its keys in order.
func asJson(t *test, value any) string {
	bytes, err := json.Marshal(value)
	t.must(err, "encode")
	var plain any
	t.must(json.Unmarshal(bytes, &plain), "decode")
	bytes, err = json.Marshal(plain)
	t.must(err, "encode")
	return string(bytes)
}

func applyStatus(ctx context.Context, t *test, c *cluster) {
	client := c.kube.AppsV1().Deployments(c.namespace)
	_, err := client.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	t.must(err, "create")
	got, err := client.ApplyStatus(ctx, appsv1apply.Deployment("web", c.namespace).
		WithStatus(appsv1apply.DeploymentStatus().WithReplicas(5).
			WithConditions(appsv1apply.DeploymentCondition().WithType(appsv1.DeploymentAvailable).WithStatus(corev1.ConditionTrue))), by("one"))
	t.must(err, "apply the status")
	t.equal("replicas seen", got.Status.Replicas, int32(5))
	t.equal("replicas wanted", *got.Spec.Replicas, int32(1))
	extracted, err := appsv1apply.ExtractDeploymentStatus(got, "one")
	t.must(err, "extract")
	t.equal("replicas applied", *extracted.Status.Replicas, int32(5))
}

func applyScale(ctx context.Context, t *test, c *cluster) {
	client := c.kube.AppsV1().Deployments(c.namespace)
	_, err := client.Create(ctx, deployment("web", 1), metav1.CreateOptions{})
	t.must(err, "create")
	scaled := autoscalingv1apply.Scale().WithName("web").WithNamespace(c.namespace).WithSpec(autoscalingv1apply.ScaleSpec().WithReplicas(4))
	_, err = client.ApplyScale(ctx, "web", scaled, by("one"))
	t.refused("a value that the maker of the object set", err, apierrors.IsConflict)
	got, err := client.ApplyScale(ctx, "web", scaled, metav1.ApplyOptions{FieldManager: "one", Force: true})
	t.must(err, "force")
	t.equal("replicas", got.Spec.Replicas, int32(4))
	whole, err := client.Get(ctx, "web", metav1.GetOptions{})
	t.must(err, "get")
	t.equal("replicas wanted", *whole.Spec.Replicas, int32(4))
	for _, entry := range whole.ManagedFields {
		if entry.Subresource == "scale" {
			t.equal("manager", entry.Manager, "one")
			t.equal("group and version of the fields", entry.APIVersion, "apps/v1")
			t.equal("fields", string(entry.FieldsV1.Raw), `{"f:spec":{"f:replicas":{}}}`)
			return
		}
	}
	t.fail("nobody is recorded for the subresource")
}

func applyCustomResource(ctx context.Context, t *test, c *cluster) {
	resource := define(ctx, t, c, "towers", "Tower")
	client := c.dynamic.Resource(resource).Namespace(c.namespace)
	part := func(name string, size int64) any { return object{"name": name, "size": size} }
	_, err := client.Apply(ctx, "one", custom(resource, "Tower", "one", object{"parts": []any{part("a", 1), part("b", 1)}}), by("one"))
	t.must(err, "apply")
	_, err = client.Apply(ctx, "one", custom(resource, "Tower", "one", object{"parts": []any{part("c", 1)}}), by("two"))
	t.must(err, "apply of another manager")
	got, err := client.Apply(ctx, "one", custom(resource, "Tower", "one", object{"parts": []any{part("b", 2)}}), by("one"))
	t.must(err, "apply without one part")
	parts, _, err := unstructured.NestedSlice(got.Object, "spec", "parts")
	t.must(err, "parts")
	t.equal("parts, merged by name", parts, []any{part("b", 2), part("c", 1)})
	_, err = client.Apply(ctx, "one", custom(resource, "Tower", "one", object{"parts": []any{part("c", 9)}}), by("one"))
	t.refused("a conflict inside a part", err, apierrors.IsConflict)
}

// From client-side to server-side apply as kubectl and controllers do it: the fields change their manager by a JSON patch.
func applyFromClientSide(ctx context.Context, t *test, c *cluster) {
	client := c.kube.CoreV1().ConfigMaps(c.namespace)
	one := configMap("one", map[string]string{"a": "1", "b": "1"})
	made, err := client.Create(ctx, one, metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"})
	t.must(err, "create")
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(made, sets.New("kubectl-client-side-apply"), "kubectl")
	t.must(err, "make the patch")
	_, err = client.Patch(ctx, "one", types.JSONPatchType, patch, metav1.PatchOptions{})
	t.must(err, "patch the managers")
	got, err := client.Apply(ctx, corev1apply.ConfigMap("one", c.namespace).WithData(map[string]string{"a": "2"}), by("kubectl"))
	t.must(err, "apply without a conflict")
	t.equal("data: what is no longer applied goes", got.Data, map[string]string{"a": "2"})
	t.equal("managers", len(got.ManagedFields), 1)
}
