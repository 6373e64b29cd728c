import { onDocumentCreated } from 'firebase-functions/firestore';
import { EVENT_PATTERN } from '../../adapters/firestore/paths.ts';
import { app } from '../../app.ts';
import { region } from '../../config.ts';

/** Publishes each event of the outbox `events` to its topics. */
export const relayEvent = onDocumentCreated({ document: EVENT_PATTERN, region, retry: true }, (event) =>
  app().services.relay.relay(event.params.eventId),
);
