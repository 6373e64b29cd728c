// @ts-check
/** Minimal function: it answers every request with the content of the file `ANSWER_FILE`. */
import { readFileSync } from 'node:fs';
import { onRequest } from 'firebase-functions/https';

const bytes = readFileSync(process.env['ANSWER_FILE'] ?? '');
const value = JSON.parse(bytes.toString());

export const json = onRequest((_request, response) => {
  response.json(value);
});

export const raw = onRequest((_request, response) => {
  response.type('application/json').send(bytes);
});
