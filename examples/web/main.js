// @ts-check
/** Shows the tasks of a workspace live, and adds tasks. */
import { call, follow } from './hub.js';
import { comeBack, session, signIn, signOut } from './signIn.js';

/**
 * Polling interval, and the age up to which a task counts as new. The page follows the queue, which shows only
 * claimable tasks, and gets new tasks after a delay. Therefore, it also polls while a task is new or claimed.
 */
const POLL_INTERVAL_MS = 3000;
const NEW_MS = 60_000;

/** @param {string} id @returns {HTMLElement} */
const element = (id) => document.getElementById(id) ?? document.body;

/** @param {string} id @param {(form: FormData) => Promise<void>} act */
function onSubmit(id, act) {
  const form = /** @type {HTMLFormElement} */ (element(id));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    told('');
    act(new FormData(form)).then(() => form.reset(), told);
  });
}

/** @param {unknown} problem */
function told(problem) {
  element('problem').textContent = problem instanceof Error ? problem.message : String(problem);
}

let loading = false;
let scheduleLoad = false;
/** Whether the shown problem comes from a failed poll. If so, the next successful poll removes the problem. */
let loadFailed = false;

/** Reads the tasks. If called while a request is running, reads the tasks again when that request has ended. */
async function loadTasks() {
  scheduleLoad = true;
  if (loading) return;
  loading = true;
  try {
    while (scheduleLoad) {
      scheduleLoad = false;
      show((await call('coordination.get_all_tasks')).tasks);
    }
    if (loadFailed) told('');
    loadFailed = false;
  } catch (problem) {
    loadFailed = true;
    told(problem);
  } finally {
    loading = false;
  }
}

/** @param {{ id: string, description: string, status: string, created_at: string, claimed_by?: string }[]} tasks */
function show(tasks) {
  const items = tasks.map(({ id, description, status, claimed_by: agent }) => {
    const item = document.createElement('li');
    // Agents write these descriptions, so the page must set them as text and never as markup.
    item.textContent = `${description} (${[status.replace('_', ' '), agent].filter(Boolean).join(', ')})`;
    item.id = id;
    return item;
  });
  element('tasks').replaceChildren(...items);
  polls = tasks.some(
    ({ status, created_at: at }) =>
      ['claimed', 'in_progress'].includes(status) || (status === 'available' && Date.now() - Date.parse(at) < NEW_MS),
  );
}

/** Whether the page currently polls. It does so while a task is new or claimed. */
let polls = false;

onSubmit('connect', async (form) => signIn(String(form.get('endpoint')), String(form.get('workspace'))));

onSubmit('add', async (form) => {
  await call('coordination.create_task', { description: String(form.get('description')) });
  await loadTasks();
});

element('leave').addEventListener('click', () => void signOut().then(() => location.reload(), told));

await comeBack().catch(told);
const signedIn = session();
if (signedIn?.accessToken !== undefined) {
  element('connect').hidden = true;
  element('work').hidden = false;
  element('workspace').textContent = signedIn.workspace;
  const leaving = new AbortController();
  addEventListener('pagehide', () => leaving.abort());
  setInterval(() => polls && void loadTasks(), POLL_INTERVAL_MS);
  follow(() => void loadTasks(), leaving.signal).catch((problem) => leaving.signal.aborted || told(problem));
}
