/** What is not of this process: the databases, vendors and the environment. */
import type { Firestore } from '@google-cloud/firestore';
import {
  clientDocumentsUrl,
  clockFile,
  gitHubSettings,
  hasPubSub,
  modelSettings,
  openRepositories,
  pushService,
  rateLimit,
  region,
  retention,
  runBudget,
  webApiKey,
} from '../config.ts';
import { firestore } from '../kernel/firestore/client.ts';
import { cloudLog, firebaseApp, movableClock, systemClock, systemRandomness } from '../kernel/platform.ts';
import type { Clock, Log } from '../kernel/ports.ts';
import type { RetentionDays } from '../kernel/sweep.ts';
import type { RateLimit } from '../limits/rules/rateLimiter.ts';
import type { ClientDocuments } from '../signin/rules/clients.ts';
import type { HostedAgent } from '../toolsets/orchestration/rules/agents/model.ts';
import type { RunDispatch } from '../toolsets/orchestration/rules/ports.ts';
import type { RunOrder } from '../toolsets/orchestration/rules/runs/run.ts';
import type { PushService } from '../toolsets/todo/rules/reminders/notification.ts';
import type { DeadLetters, EventPublisher } from '../toolsets/todo/rules/taskEvent.ts';
import { Claude } from '../vendors/anthropic/claude.ts';
import { HttpsClientDocuments } from '../vendors/clientdocument/clientDocuments.ts';
import { cloudTasksRunQueue } from '../vendors/cloudtasks/runQueue.ts';
import { fcmPushService, localMessagingApp } from '../vendors/fcm/pushService.ts';
import { Gemini } from '../vendors/gemini/gemini.ts';
import type { GitHubSettings } from '../vendors/octokit/clients.ts';
import { PubSubPublisher } from '../vendors/pubsub/publisher.ts';
import type { ModelSettings } from '../vendors/vendorModel.ts';

export interface Outside {
  readonly clock: Clock;
  readonly log: Log;
  readonly database: Firestore;
  /** undefined: nobody is limited. */
  readonly rateLimit: RateLimit | undefined;
  /** Where people's devices are told of reminders; undefined: nowhere. */
  readonly push: PushService | undefined;
  /** undefined on a machine without a broker. */
  readonly publisher: EventPublisher | undefined;
  readonly deadLetters: DeadLetters;
  /** The agents behind which a vendor's model answers. */
  readonly hosted: () => readonly HostedAgent[];
  readonly dispatch: RunDispatch;
  /** What a run may spend of which its caller says nothing. */
  readonly budget: RunOrder['budget'];
  /** For how many days what has ended is kept. */
  readonly retention: RetentionDays;
  readonly clientDocuments: ClientDocuments;
  readonly gitHub: () => GitHubSettings;
  /** What the members of open workspaces reach: `owner/name`, or `owner/*`. */
  readonly openRepositories: () => readonly string[];
  readonly webApiKey: string;
}

/** Returns what the environment of this process says. */
export function outside(): Outside {
  const file = clockFile();
  const broker = new PubSubPublisher();
  return {
    clock: file === undefined ? systemClock : movableClock(file),
    log: cloudLog,
    database: firestore(),
    rateLimit: rateLimit(),
    push: devicesOf(pushService()),
    publisher: hasPubSub() ? broker : undefined,
    deadLetters: broker,
    hosted: onFirstUse(() => hostedAgents(modelSettings())),
    dispatch: cloudTasksRunQueue(region.value(), systemRandomness),
    budget: runBudget(),
    retention: retention(),
    clientDocuments: new HttpsClientDocuments(clientDocumentsUrl()),
    gitHub: gitHubSettings,
    openRepositories,
    webApiKey: webApiKey(),
  };
}

/** The agents of the orchestration specification, with the models and keys of these settings. */
export function hostedAgents({ claude, gemini }: Readonly<Record<'claude' | 'gemini', ModelSettings>>) {
  return [new Claude(claude), new Gemini(gemini)];
}

/** Firebase's push service, or the one that a machine has. */
function devicesOf(service: ReturnType<typeof pushService>): PushService | undefined {
  if (service === 'none') return undefined;
  return fcmPushService(
    service === 'firebase' ? async () => firebaseApp() : () => localMessagingApp(service.url),
  );
}

/** Their keys are known only then. */
function onFirstUse<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
