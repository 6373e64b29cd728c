// @ts-check
/** Prints the connection's headers: the credential of MUSTER_TOKEN, if it is set and no other machine can read it. */
import { hasCredential } from './hub.mjs';

const token = process.env.MUSTER_TOKEN;
if (token && !hasCredential)
  process.stderr.write('MUSTER_URL: http would send the credential unencrypted. Use https.\n');
process.stdout.write(JSON.stringify(hasCredential ? { Authorization: `Bearer ${token}` } : {}));
