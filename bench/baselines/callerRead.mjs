// @ts-check
/** Baseline of `firebase.read`: reads one document with a Firestore client that uses one caller's ID token. */
import { Firestore } from '@google-cloud/firestore';
import { onRequest } from 'firebase-functions/https';

const client = new Firestore({ customHeaders: { Authorization: `Bearer ${process.env['ID_TOKEN']}` } });

export const callerRead = onRequest(async (_request, response) => {
  const snapshot = await client.doc('agents/worker0').get();
  response.json(snapshot.data());
});
