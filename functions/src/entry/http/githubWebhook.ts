import { onRequest } from 'firebase-functions/https';
import { app } from '../../app.ts';
import { gitHubWebhookSecrets, region } from '../../config.ts';
import { leaveBodiesUnparsed } from './framework.ts';

leaveBodiesUnparsed();

/** GitHub's deliveries: merged pull requests close tasks, failed checks are recorded on them. */
export const githubWebhook = onRequest(
  { region, invoker: 'public', cors: false, timeoutSeconds: 30, secrets: gitHubWebhookSecrets },
  async (request, response) => {
    const { method, headers, rawBody: body } = request;
    const { status, text } = await app().gitHubWebhook.receive({ method, headers, body });
    response.status(status).type('text/plain').send(text);
  },
);
