// @ts-check
/** The least that a function can do: it answers every request with what the file holds that `ANSWER_FILE` names. */
import { readFileSync } from 'node:fs';
import { onRequest } from 'firebase-functions/https';

const bytes = readFileSync(process.env['ANSWER_FILE'] ?? '');
const value = JSON.parse(bytes.toString());

/** From the value, as a handler that has one would. */
export const json = onRequest((_request, response) => {
  response.json(value);
});

/** From the bytes. */
export const raw = onRequest((_request, response) => {
  response.type('application/json').send(bytes);
});
