/** External services of the process: databases, vendors, and settings from the environment. */
import type { Firestore } from '@google-cloud/firestore';
import * as config from '../config.ts';
import { firestore } from '../kernel/firestore/client.ts';
import { lazy } from '../kernel/memoCache.ts';
import { cloudLog, simulatedClock, systemClock, systemRandomness } from '../kernel/platform.ts';
import type { Clock, Log } from '../kernel/ports.ts';
import { firebaseApp } from '../kernel/realtime/database.ts';
import type { RetentionDays } from '../kernel/sweep.ts';
import type { RateLimit } from '../limits/rules/rateLimiter.ts';
import type { ClientDocuments } from '../signin/rules/clients.ts';
import type { HostedAgent } from '../toolsets/orchestration/rules/agents/model.ts';
import { NO_DOLLAR_LIMIT } from '../toolsets/orchestration/rules/calls/budget.ts';
import type { RunDispatch } from '../toolsets/orchestration/rules/ports.ts';
import type { RunOrder } from '../toolsets/orchestration/rules/runs/run.ts';
import type { Mailer } from '../toolsets/todo/rules/outbox.ts';
import type { PushService } from '../toolsets/todo/rules/reminders/notification.ts';
import type { DeadLetters, EventPublisher } from '../toolsets/todo/rules/taskEvent.ts';
import { HttpsClientDocuments } from '../vendors/clientdocument/clientDocuments.ts';
import { cloudTasksRunQueue } from '../vendors/cloudtasks/runQueue.ts';
import { fcmPushService, localMessagingApp } from '../vendors/fcm/pushService.ts';
import type { GitHubSettings } from '../vendors/octokit/clients.ts';
import { PubSubPublisher } from '../vendors/pubsub/publisher.ts';
import { smtpMailer } from '../vendors/smtp/mailer.ts';
import { hostedAgents } from './hostedAgents.ts';

export interface ExternalServices {
  readonly clock: Clock;
  readonly log: Log;
  readonly database: Firestore;
  /** If undefined, calls are not limited. */
  readonly rateLimit: RateLimit | undefined;
  /** Push service for reminders; if undefined, nothing is pushed. */
  readonly push: PushService | undefined;
  /** Sends emails; returns undefined if no SMTP server is configured. */
  readonly mailer: () => Mailer | undefined;
  /** Sends events by Pub/Sub; undefined on a machine without a message broker. */
  readonly publisher: EventPublisher | undefined;
  readonly deadLetters: DeadLetters;
  readonly hosted: () => readonly HostedAgent[];
  readonly dispatch: RunDispatch;
  /** Budget of a run, if the caller that starts the run sets none. */
  readonly budget: RunOrder['budget'];
  readonly retention: RetentionDays;
  readonly clientDocuments: ClientDocuments;
  readonly gitHub: () => GitHubSettings;
  /** Repositories that members of open workspaces can access: `owner/name`, or `owner/*`. */
  readonly openRepositories: () => readonly string[];
  readonly webApiKey: string;
}

/** Returns the external services that the environment of the process configures. */
export function externalServices(): ExternalServices {
  const file = config.clockFile();
  const broker = new PubSubPublisher();
  const budget = config.runBudget();
  return {
    clock: file === undefined ? systemClock : simulatedClock(file),
    log: cloudLog,
    database: firestore(),
    rateLimit: config.rateLimit(),
    push: devicesOf(config.pushService()),
    mailer: lazy(() => {
      const settings = config.smtpSettings();
      return settings && smtpMailer(settings);
    }),
    publisher: config.hasPubSub() ? broker : undefined,
    deadLetters: broker,
    // Secrets are not available earlier.
    hosted: lazy(() => hostedAgents(config.modelEnvironment(), { log: cloudLog })),
    dispatch: cloudTasksRunQueue(config.region.value(), systemRandomness),
    budget: { ...budget, cost_usd: budget.cost_usd ?? NO_DOLLAR_LIMIT },
    retention: config.retention(),
    clientDocuments: new HttpsClientDocuments(config.clientDocumentsUrl()),
    gitHub: config.gitHubSettings,
    openRepositories: config.openRepositories,
    webApiKey: config.webApiKey(),
  };
}

/** Returns the push service of Firebase, or a local one; undefined for the setting `none`. */
function devicesOf(service: ReturnType<typeof config.pushService>): PushService | undefined {
  if (service === 'none') return undefined;
  return fcmPushService(service === 'firebase' ? async () => firebaseApp() : () => localMessagingApp(service.url));
}
