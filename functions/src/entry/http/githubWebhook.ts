import { onRequest } from 'firebase-functions/https';
import { app } from '../../app.ts';
import { gitHubWebhookSecrets, region } from '../../config.ts';
import { leaveBodiesUnread } from './framework.ts';

leaveBodiesUnread();

/** GitHub's deliveries: merged pull requests close tasks, failed checks are recorded on them. */
export const githubWebhook = onRequest(
  { region, invoker: 'public', cors: false, timeoutSeconds: 30, secrets: gitHubWebhookSecrets },
  (request, response) => app().gitHubWebhook(request, response),
);
