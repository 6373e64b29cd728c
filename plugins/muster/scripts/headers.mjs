// @ts-check
/** Prints the HTTP headers for the hub: the credential in MUSTER_TOKEN, if it is set and sent without risk. */
import { hasCredential } from './hub.mjs';

const token = process.env.MUSTER_TOKEN;
if (token && !hasCredential)
  process.stderr.write('MUSTER_URL: http would send the credential unencrypted. Use https.\n');
process.stdout.write(JSON.stringify(hasCredential ? { Authorization: `Bearer ${token}` } : {}));
