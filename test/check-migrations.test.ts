import { expect, test } from 'vitest'
import { baselineProblems, migrationProblems } from '../scripts/check-migrations.mjs'

const problemsOf = (text: string, isInUse?: (column: string) => boolean) =>
  migrationProblems({ name: '0002_later.sql', text }, isInUse)

test.each([
  ['create index payment_x on payment (x);', 'create the index concurrently'],
  ['create unique index if not exists payment_x on payment (x);', 'create the index concurrently'],
  ['drop index payment_x;', 'drop the index concurrently'],
  ['alter table payment add primary key (id);', 'use an index that was created concurrently'],
  ['alter table payment add constraint payment_u unique (x);', 'use an index that was created concurrently'],
  ['alter table payment add constraint payment_c check (x > 0);', 'add the constraint as not valid'],
  ['alter table payment add foreign key (x) references other (id);', 'add the constraint as not valid'],
  ['alter table payment add column x bigint references other (id);', 'constraint that is not valid'],
  ['alter table payment alter column x set not null;', 'use a check that is not valid'],
  ['alter table payment alter column x type bigint;', 'add a column of the new type'],
  ['alter table payment alter column x set data type bigint;', 'add a column of the new type'],
  ['alter table payment add column y bigint generated always as (x * 2) stored;', 'fill the column by a job'],
  ['alter table payment add column y uuid not null default gen_random_uuid();', 'the default differs by row'],
  ['truncate payment;', 'locks the table'],
  ['drop table payment;', 'drops something the version before may use'],
  ['alter table payment drop column x;', 'drops a column the version before may use'],
  ['alter table payment rename column x to y;', 'renames something the version before may use'],
  ['alter table payment add column x text not null;', 'adds a column that the version before does not fill'],
  ['create index concurrently a on payment (x); select 1;', 'needs a separate file'],
  [
    'alter table payment add constraint c check (x > 0) not valid; alter table payment validate constraint c;',
    'validate the constraint in a later migration',
  ],
])('after the baseline %s is refused', (text, why) => {
  expect(problemsOf(text)).toEqual([expect.stringContaining(why)])
})

test.each([
  'create index concurrently payment_x on payment (x);',
  'alter table payment add constraint c check (x > 0) not valid;',
  'alter table payment validate constraint c;',
  'alter table payment add constraint payment_u unique using index payment_x;',
  `alter table payment add column a text not null default 'x', add column b int;`,
  'create table a (x int primary key); create index a_x on a (x); alter table a add check (x > 0);',
  '-- contract: unused since version 1.4\ndrop table a;',
  'create or replace function f() returns trigger language plpgsql as $$ begin truncate a; end $$;',
])('after the baseline %s is allowed', (text) => {
  expect(problemsOf(text)).toEqual([])
})

test('a column that the code still names is not dropped, whatever the migration says', () => {
  const text = '-- contract: unused since version 1.4\nalter table payment drop column note;'
  expect(problemsOf(text)).toEqual([])
  expect(problemsOf(text, (column) => column === 'note')).toEqual(['drops note, which this release still uses'])
})

test('the baseline of an owner is not bound: no version before it sells', () => {
  const text = 'alter table payment drop column note; create index a on payment (x);'
  expect(migrationProblems({ name: 'packages/till/src/store/migrations/0001_baseline.sql', text })).toEqual([])
})

test('what PostgreSQL 14 and 15 do not know is refused in the baseline too', () => {
  const text = 'create table tile (\n  hashes bytea storage external not null\n);'
  for (const name of ['0001_baseline.sql', '0002_later.sql'])
    expect(migrationProblems({ name, text })).toEqual([expect.stringContaining('needs PostgreSQL 16')])
  const older =
    'create table tile (\n  hashes bytea not null\n); alter table tile alter column hashes set storage external;'
  expect(migrationProblems({ name: '0001_baseline.sql', text: older })).toEqual([])
})

test('a baseline that was fixed is changed by migrations alone', () => {
  const text = 'create table a (id bigint);'
  const fixed = { 'x/0001_baseline.sql': 'eb9ed1c0d8bd8f8f5ec23ff65ef31a7bba9e2f8bf2e7c1c7f6d3d2f0d9fcb7aa' }
  expect(baselineProblems(fixed, [{ name: 'x/0001_baseline.sql', text }])).toEqual([
    'x/0001_baseline.sql: the baseline was changed: add a migration instead',
  ])
  expect(baselineProblems({}, [{ name: 'x/0001_baseline.sql', text }])).toEqual([
    expect.stringContaining('a new baseline'),
  ])
  expect(baselineProblems({}, [{ name: 'x/0002_later.sql', text }])).toEqual([])
})
