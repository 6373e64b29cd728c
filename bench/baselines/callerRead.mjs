// @ts-check
/** `firebase.read` without Muster: one Firestore client with one caller's ID token, and one document. */
import { Firestore } from '@google-cloud/firestore';
import { onRequest } from 'firebase-functions/https';

const client = new Firestore({ customHeaders: { Authorization: `Bearer ${process.env['ID_TOKEN']}` } });

export const callerRead = onRequest(async (_request, response) => {
  const snapshot = await client.doc('agents/worker0').get();
  response.json(snapshot.data());
});
