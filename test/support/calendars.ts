/** Recurring to-dos in the leap year 2028, each with a handwritten list of the due times that it must produce. */

const DAY = 86_400_000;

export interface CalendarTask {
  readonly title: string;
  readonly frequency: 'DAILY' | 'WEEKLY' | 'MONTHLY';
  readonly anchor: string;
  readonly timezone: string;
  /** All due times in 2028, and the first due time after that year. */
  readonly calendar: readonly string[];
}

/**
 * Returns due times at intervals of `count` days, until 1 January 2029.
 * @param clocks local times, by the first day on which each applies
 */
function everyDays(count: number, clocks: Readonly<Record<string, string>>): readonly string[] {
  const entries = Object.entries(clocks);
  const dates: string[] = [];
  for (let at = Date.parse(String(entries[0]?.[0])); at <= Date.parse('2029-01-01'); at += count * DAY) {
    const date = new Date(at).toISOString().slice(0, 10);
    const [, shown] = entries.findLast(([from]) => from <= date) ?? [];
    dates.push(`${date}T${shown}`);
  }
  return dates;
}

export const YEAR: readonly CalendarTask[] = [
  {
    title: 'Pay the rent',
    frequency: 'MONTHLY',
    anchor: '2028-01-31T09:00Z',
    timezone: 'UTC',
    calendar: [
      '2028-01-31T09:00Z',
      '2028-02-29T09:00Z',
      '2028-03-31T09:00Z',
      '2028-04-30T09:00Z',
      '2028-05-31T09:00Z',
      '2028-06-30T09:00Z',
      '2028-07-31T09:00Z',
      '2028-08-31T09:00Z',
      '2028-09-30T09:00Z',
      '2028-10-31T09:00Z',
      '2028-11-30T09:00Z',
      '2028-12-31T09:00Z',
      '2029-01-31T09:00Z',
    ],
  },
  {
    title: 'Put the bins out on Mondays',
    frequency: 'WEEKLY',
    anchor: '2028-01-03T08:00Z',
    timezone: 'UTC',
    calendar: everyDays(7, { '2028-01-03': '08:00Z' }),
  },
  {
    title: 'Back up at 01:30 (repeated in autumn)',
    frequency: 'DAILY',
    anchor: '2028-01-01T01:30-05:00',
    timezone: 'America/New_York',
    calendar: everyDays(1, { '2028-01-01': '01:30-05:00', '2028-03-13': '01:30-04:00', '2028-11-06': '01:30-05:00' }),
  },
  {
    title: 'Back up at 02:30 (skipped in spring, repeated in autumn)',
    frequency: 'DAILY',
    anchor: '2028-01-01T02:30+01:00',
    timezone: 'Europe/Berlin',
    calendar: everyDays(1, {
      '2028-01-01': '02:30+01:00',
      '2028-03-26': '03:30+02:00',
      '2028-03-27': '02:30+02:00',
      '2028-10-30': '02:30+01:00',
    }),
  },
  {
    title: 'Back up at 02:15 (skipped in spring)',
    frequency: 'DAILY',
    anchor: '2028-01-01T02:15+11:00',
    timezone: 'Australia/Lord_Howe',
    calendar: everyDays(1, {
      '2028-01-01': '02:15+11:00',
      '2028-04-02': '02:15+10:30',
      '2028-10-01': '02:45+11:00',
      '2028-10-02': '02:15+11:00',
    }),
  },
];
