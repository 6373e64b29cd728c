import type { AccessPorts } from '../../access/rules/ports.ts';
import type { GraphPorts } from '../../graph/rules/linking.ts';
import type { DocumentSource } from '../../kernel/firestore/reading.ts';
import { type PortOf, skipUnreadable } from '../../kernel/ports.ts';
import type { firebaseApp, realtimeDatabase } from '../../kernel/realtime/database.ts';
import type { CoordinationPorts, TaskCreation } from '../coordination/index.ts';
import { Delegation } from './rules/delegation.ts';
import { tellIfGoalDone } from './rules/goalNotice.ts';
import * as outbox from './rules/outbox.ts';
import type { TodoChange, TodoPorts } from './rules/ports.ts';
import { RecurringTasks } from './rules/recurring/recurringTasks.ts';
import { ReminderService, sendReminders } from './rules/reminders/reminders.ts';
import { repairTodo } from './rules/repair.ts';
import { type EventPublisher, TOPICS } from './rules/taskEvent.ts';
import { todoNodeFinder } from './rules/todoChanges.ts';
import { TodoService } from './rules/todos.ts';
import { TodoUndo } from './rules/undoTodos.ts';
import { FirestoreTaskHistory, recordArrivalIn } from './store/events.ts';
import {
  DatabaseClientLists,
  DatabaseDeliveries,
  DatabaseDevices,
  FirestoreMails,
  FirestoreNotifications,
  verifiedEmail,
} from './store/notifications.ts';
import { FirestoreRecurringTaskQueries, FirestoreReminderQueries } from './store/reminders.ts';
import { todoFromRecord } from './store/todoDocument.ts';
import { FirestoreTodoQueries, fieldsOfTodos } from './store/todos.ts';

export interface TodoDependencies
  extends DocumentSource,
    Pick<TodoPorts, 'store' | 'consoleLinks' | 'push' | 'deadLetters'>,
    Pick<CoordinationPorts, 'tasks' | 'sessions'> {
  readonly access: AccessPorts;
  readonly graph: GraphPorts;
  readonly realtime: typeof realtimeDatabase;
  readonly app: typeof firebaseApp;
  /** Sends emails; undefined if no SMTP server is configured. */
  readonly mailer: () => outbox.Mailer | undefined;
  /** Undefined if no message broker is configured: events then go directly to their consumers. */
  readonly publisher: EventPublisher | undefined;
  readonly taskCreation: PortOf<TaskCreation<TodoChange>>;
}

/** Creates the services for to-dos, reminders and their events. */
export function createTodo(dependencies: TodoDependencies) {
  const { database, documents, access, graph, realtime, app, ...others } = dependencies;
  const { mailer, publisher, tasks, sessions, taskCreation, ...given } = others;
  const { clock, randomness } = access;
  const todos = new FirestoreTodoQueries(database, documents);
  const notifications = new FirestoreNotifications(database, documents);
  const mails = new FirestoreMails(database, documents);
  const deliveries = new DatabaseDeliveries({ database: realtime, clock, randomness });
  const ports: TodoPorts = {
    ...access,
    ...graph,
    ...fieldsOfTodos,
    ...given,
    todos,
    notifications,
    deliveries,
    recurringTasks: new FirestoreRecurringTaskQueries(database, documents),
    taskHistory: new FirestoreTaskHistory(database, documents),
    recordArrival: recordArrivalIn(database),
    reminders: new FirestoreReminderQueries(database, documents),
    clientLists: new DatabaseClientLists({ database: realtime }),
    devices: new DatabaseDevices({ database: realtime }),
    verifiedEmail: (uid) => verifiedEmail(app(), uid),
  };
  const consumers = {
    [TOPICS.taskEvents]: outbox.eventConsumer('audit', (event) => outbox.recordReceipt(event, ports), ports),
    [TOPICS.taskUpdates]: outbox.eventConsumer('mirror', (event) => ports.clientLists.putTaskUpdate(event), ports),
    [TOPICS.reminders]: outbox.eventConsumer('notifier', (event) => outbox.notify(ports, event), ports),
  };
  // Without a message broker, the consumers are called directly.
  const delivery: EventPublisher = publisher ?? { publish: (topic, event) => consumers[topic].act(event) };
  const todoService = new TodoService(ports);
  const { recurrence, reminder } = new TodoUndo({ ...ports, tasks });
  const services = {
    todos: todoService,
    delegation: new Delegation({ ...ports, tasks, taskCreation, todoService }),
    recurringTasks: new RecurringTasks(ports),
    reminders: new ReminderService(ports),
    sendReminders: () => sendReminders(ports),
    /** `before` and `after` are the documents of a task before and after a change. */
    tellIfGoalDone: (before: unknown, after: unknown) => tellIfGoalDone({ ...ports, tasks, sessions }, before, after),
    deliverMail: (id: string) => outbox.deliverMail({ ...access, mails, mailer: mailer() }, id),
    consumers,
    relayEvent: (eventId: string) => outbox.relayEvent(ports, delivery, eventId),
    /** `before` is the document before the change, if there was one. Repairs skip unreadable documents. */
    repairTodo: (todoId: string, before: unknown): Promise<void> =>
      skipUnreadable(repairTodo(ports, todoId, todoFromRecord(before))),
  };
  return {
    ports,
    node: todoNodeFinder(todos),
    inverses: { todo: recurrence, recurring_task: recurrence, reminder },
    deliveries,
    /** Returns the ids of the agents that the person allows to answer questions in the person's place. */
    agentsMayAnswer: async (uid: string) => (await notifications.preferences(uid)).agents_may_answer,
    services,
  };
}

export type TodoServices = ReturnType<typeof createTodo>['services'];
