// @ts-check
/** Baseline function of a cold start: loads the Admin SDK and reads one document. */
import { initializeApp } from 'firebase-admin/app';
import { getFirestore } from 'firebase-admin/firestore';
import { onRequest } from 'firebase-functions/https';

initializeApp();

export const oneDocument = onRequest(async (_request, response) => {
  const snapshot = await getFirestore().doc('agents/admin').get();
  response.json({ exists: snapshot.exists });
});
