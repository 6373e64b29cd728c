/** Checks of Pub/Sub topics and dead letters. */
import { rolesIn, serviceAccountMember } from '../../google/policy.ts';
import {
  type Check,
  deployCommand,
  type Finding,
  known,
  knownAll,
  list,
  OK,
  problemUnless,
  type Site,
  waitsFor,
} from '../check.ts';
import { deadLetterTopic, isConsumers, pubSubAgentOf } from '../needs.ts';

type Subscription = (Site['seen']['subscriptions'] & { readonly ok: true })['value'][number];

export function topicPath({ declared }: Site, topic: string): string {
  return `projects/${declared.project}/topics/${topic}`;
}

/** Returns the subscriptions of functions that retry. Ignores other subscriptions to the same topics. */
export function consuming(site: Site, subscriptions: readonly Subscription[]): readonly Subscription[] {
  return subscriptions.filter((one) => isConsumers(site.declared, one));
}

function ofConsumers(site: Site, decide: (subscriptions: readonly Subscription[]) => Finding): Finding {
  return known(site, site.seen.subscriptions, (subscriptions) => {
    const there = consuming(site, subscriptions);
    return there.length === 0 ? waitsFor('no subscription') : decide(there);
  });
}

export const eventChecks: readonly Check[] = [
  {
    name: 'topics',
    find: (site) =>
      known(site, site.seen.topics, (topics) => {
        const wanted = site.declared.functions.flatMap(({ topic }) => (topic === undefined ? [] : [topic]));
        const missing = wanted.filter((topic) => !topics.some(({ name }) => name === topicPath(site, topic)));
        return problemUnless(missing.length === 0, {
          what: `missing topics: ${list(missing)}`,
          why: 'these topics carry the events of to-dos and reminders',
          fix: deployCommand(site.declared),
        });
      }),
  },
  {
    name: 'dead letters',
    find: (site) =>
      ofConsumers(site, (subscriptions) => {
        const topic = deadLetterTopic(site.declared);
        const without = subscriptions.filter(
          ({ deadLetterPolicy }) => deadLetterPolicy?.deadLetterTopic !== topicPath(site, topic ?? ''),
        );
        if (without.length === 0) return OK;
        const names = without.map(({ name }) => name.replace(/^.*\//, ''));
        const update = `gcloud pubsub subscriptions update ${names.length === 1 ? names[0] : '$name'} --dead-letter-topic=${topic} --max-delivery-attempts=20 --project ${site.declared.project}`;
        return {
          state: 'problem',
          what: `subscriptions without the dead-letter topic: ${list(names)}`,
          why: 'a failing message would be retried for a day without any report',
          fix: { command: names.length === 1 ? update : `for name in ${names.join(' ')}; do ${update}; done` },
        };
      }),
  },
  {
    name: 'permissions for dead letters',
    find: (site) =>
      ofConsumers(site, () =>
        known(site, site.seen.deadLetterPolicy, (policy) =>
          knownAll(site, site.seen.subscriptionPolicies, (policies) => {
            const { project } = site.declared;
            const member = serviceAccountMember(pubSubAgentOf(site.seen.project.number));
            const topic = deadLetterTopic(site.declared);
            if (policy === undefined) return waitsFor(`no topic ${topic}`);
            const closed = [...policies].find(([, one]) => !rolesIn(one, member).includes('roles/pubsub.subscriber'));
            if (rolesIn(policy, member).includes('roles/pubsub.publisher') && closed === undefined) return OK;
            const why = 'Pub/Sub counts attempts, but cannot move a failing message to the dead-letter topic';
            if (closed === undefined)
              return {
                state: 'problem',
                what: `Pub/Sub cannot publish to ${topic}`,
                why,
                fix: {
                  command: `gcloud pubsub topics add-iam-policy-binding ${topic} --member=${member} --role=roles/pubsub.publisher --project ${project}`,
                },
              };
            const name = closed[0].replace(/^.*\//, '');
            return {
              state: 'problem',
              what: `Pub/Sub cannot acknowledge messages of ${name}`,
              why,
              fix: {
                command: `gcloud pubsub subscriptions add-iam-policy-binding ${name} --member=${member} --role=roles/pubsub.subscriber --project ${project}`,
              },
            };
          }),
        ),
      ),
  },
];
