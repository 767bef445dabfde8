package main

import (
	"context"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
)

var identityChecks = []check{
	{"identity/reviews", identityReviews},
	{"identity/impersonation", identityImpersonation},
	{"identity/service-account", identityServiceAccount},
	{"identity/anonymous", identityAnonymous},
	{"events/core", eventsCore},
	{"events/new", eventsNew},
}

func identityReviews(ctx context.Context, t *test, c *cluster) {
	who, err := c.kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	t.must(err, "who am I")
	t.that(contains(who.Status.UserInfo.Groups, "system:masters"), "an administrator")
	may, err := c.kube.AuthorizationV1().SelfSubjectAccessReviews().Create(ctx, &authorizationv1.SelfSubjectAccessReview{
		Spec: authorizationv1.SelfSubjectAccessReviewSpec{ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "delete", Resource: "pods"}},
	}, metav1.CreateOptions{})
	t.must(err, "may I")
	t.that(may.Status.Allowed, "an administrator may")
}

func identityImpersonation(ctx context.Context, t *test, c *cluster) {
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: "somebody"}
	somebody := connect(t, config)
	_, err := somebody.kube.CoreV1().ConfigMaps(c.namespace).List(ctx, metav1.ListOptions{})
	t.refused("what nobody allowed", err, apierrors.IsForbidden)
	c.allowReading(ctx, t, rbacv1.Subject{Kind: rbacv1.UserKind, APIGroup: rbacv1.GroupName, Name: "somebody"})
	t.eventually(ctx, "what a role allows", func(ctx context.Context) (bool, error) {
		_, err := somebody.kube.CoreV1().ConfigMaps(c.namespace).List(ctx, metav1.ListOptions{})
		return err == nil, ignoring(err, apierrors.IsForbidden)
	})
}

// allowReading lets a subject read the ConfigMaps of the namespace.
func (c *cluster) allowReading(ctx context.Context, t *test, subject rbacv1.Subject) {
	_, err := c.kube.RbacV1().Roles(c.namespace).Create(ctx, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{Verbs: []string{"get", "list"}, APIGroups: []string{""}, Resources: []string{"configmaps"}}},
	}, metav1.CreateOptions{})
	t.must(err, "create a role")
	_, err = c.kube.RbacV1().RoleBindings(c.namespace).Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{subject},
	}, metav1.CreateOptions{})
	t.must(err, "bind it")
}

func ignoring(err error, is func(error) bool) error {
	if err != nil && is(err) {
		return nil
	}
	return err
}

// A program in a pod: it has a token that the server signed for its account.
func identityServiceAccount(ctx context.Context, t *test, c *cluster) {
	_, err := c.kube.CoreV1().ServiceAccounts(c.namespace).Create(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "robot"}}, metav1.CreateOptions{})
	t.must(err, "create the account")
	token, err := c.kube.CoreV1().ServiceAccounts(c.namespace).CreateToken(ctx, "robot", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	t.must(err, "ask for a token")
	config := rest.AnonymousClientConfig(c.config)
	config.BearerToken = token.Status.Token
	robot := connect(t, config)
	who, err := robot.kube.AuthenticationV1().SelfSubjectReviews().Create(ctx, &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
	t.must(err, "who is it")
	t.equal("name", who.Status.UserInfo.Username, "system:serviceaccount:"+c.namespace+":robot")
	_, err = robot.kube.CoreV1().ConfigMaps(c.namespace).List(ctx, metav1.ListOptions{})
	t.refused("what nobody allowed", err, apierrors.IsForbidden)
	c.allowReading(ctx, t, rbacv1.Subject{Kind: rbacv1.ServiceAccountKind, Name: "robot", Namespace: c.namespace})
	t.eventually(ctx, "what a role allows", func(ctx context.Context) (bool, error) {
		_, err := robot.kube.CoreV1().ConfigMaps(c.namespace).List(ctx, metav1.ListOptions{})
		return err == nil, ignoring(err, apierrors.IsForbidden)
	})
	_, err = robot.kube.CoreV1().Secrets(c.namespace).List(ctx, metav1.ListOptions{})
	t.refused("what the role does not name", err, apierrors.IsForbidden)
}

func identityAnonymous(ctx context.Context, t *test, c *cluster) {
	config := rest.CopyConfig(c.config)
	config.BearerToken = "wrong"
	config.TLSClientConfig.CertData, config.TLSClientConfig.KeyData = nil, nil
	wrong := connect(t, config)
	_, err := wrong.kube.CoreV1().ConfigMaps(c.namespace).List(ctx, metav1.ListOptions{})
	t.refused("a wrong token", err, apierrors.IsUnauthorized)
}

// The recorder counts what repeats, by a patch.
func eventsCore(ctx context.Context, t *test, c *cluster) {
	made, err := c.kube.CoreV1().Pods(c.namespace).Create(ctx, pod("one", nil), metav1.CreateOptions{})
	t.must(err, "create")
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	defer broadcaster.Shutdown()
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: c.kube.CoreV1().Events(c.namespace)})
	recorder := broadcaster.NewRecorder(scheme.Scheme, corev1.EventSource{Component: "check"})
	for range 3 {
		recorder.Event(made, corev1.EventTypeWarning, "Tested", "again and again")
	}
	t.eventually(ctx, "one event with its count", func(ctx context.Context) (bool, error) {
		list, err := c.kube.CoreV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "involvedObject.uid=" + string(made.UID)})
		return err == nil && len(list.Items) == 1 && list.Items[0].Count == 3, err
	})
}

// The newer recorder writes to events.k8s.io; both groups show the same object.
func eventsNew(ctx context.Context, t *test, c *cluster) {
	made, err := c.kube.CoreV1().Pods(c.namespace).Create(ctx, pod("one", nil), metav1.CreateOptions{})
	t.must(err, "create")
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: c.kube.EventsV1()})
	defer broadcaster.Shutdown()
	t.must(broadcaster.StartRecordingToSinkWithContext(ctx), "start")
	broadcaster.NewRecorder(scheme.Scheme, "check").Eventf(made, nil, corev1.EventTypeNormal, "Tested", "Testing", "note %d", 1)
	t.eventually(ctx, "the event in both groups", func(ctx context.Context) (bool, error) {
		newer, err := c.kube.EventsV1().Events(c.namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=Tested"})
		if err != nil || len(newer.Items) != 1 {
			return false, err
		}
		older, err := c.kube.CoreV1().Events(c.namespace).Get(ctx, newer.Items[0].Name, metav1.GetOptions{})
		if err != nil {
			return false, err
		}
		t.equal("note and message", older.Message, newer.Items[0].Note)
		t.that(time.Since(newer.Items[0].EventTime.Time) < checkTimeout, "the time has its fraction of a second")
		return true, nil
	})
}
