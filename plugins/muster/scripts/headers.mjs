// @ts-check
/** The headers of the connection: the credential of MUSTER_TOKEN, or none where its person signs in. */
const token = process.env.MUSTER_TOKEN;
process.stdout.write(JSON.stringify(token ? { Authorization: `Bearer ${token}` } : {}));
