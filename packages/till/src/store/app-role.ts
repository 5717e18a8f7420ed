import type pg from 'pg'
import { sqlStateOf } from './errors.ts'

export const appRole = 'assay_app'

/**
 * The role the node works as: it can change rows and nothing else. Before migrations, so that tables made by them
 * belong to it in the ordinary way. False when it does not exist and this login may not create it.
 */
export async function ensureAppRole(client: pg.ClientBase): Promise<boolean> {
  for (let attempt = 1; ; attempt += 1)
    try {
      await client.query(createSql)
      return true
    } catch (error) {
      const state = sqlStateOf(error)
      if (state === '42501') return false
      if (attempt === attemptsMax || !state || !concurrent.has(state)) throw error
    }
}

// The role belongs to the whole server: a start in another of its databases may write the same rows at the same moment.
const concurrent = new Set(['XX000', '23505', '40001', '40P01'])
const attemptsMax = 10

const createSql = `do $$
begin
  perform pg_advisory_xact_lock(1634952033, 6);
  begin
    if not exists (select from pg_roles where rolname = '${appRole}') then
      create role ${appRole} nologin;
    end if;
  exception when duplicate_object or unique_violation then null;
  end;
  if not pg_has_role(current_user, '${appRole}', 'member') then
    execute format('grant ${appRole} to %I', current_user);
  end if;
  -- Written again, the rights of a schema make every session on the server plan each of its statements again.
  if not exists (select from pg_namespace n, aclexplode(n.nspacl) x
    where n.nspname = 'public' and x.grantee = '${appRole}'::regrole and x.privilege_type = 'USAGE')
  then
    grant usage on schema public to ${appRole};
  end if;
  alter default privileges in schema public grant select, insert, update, delete on tables to ${appRole};
  alter default privileges in schema public grant usage on sequences to ${appRole};
end $$`

/** After migrations: the tables named in `app_access` get exactly the rights written there. */
export async function applyAppAccess(client: pg.ClientBase): Promise<void> {
  await client.query(grantSql)
}

const grantSql = `do $$
declare
  found record;
  app constant oid := '${appRole}'::regrole;
  -- A right, and the columns it is for where it is not for all of them.
  right_of constant text := '(\\w+)(?:\\s*\\(([^)]*)\\))?';
begin
  perform pg_advisory_xact_lock(1634952033, 3);
  for found in
    select c.oid::regclass as name, a.privileges
    from pg_class c left join app_access a on a.table_name = c.relname
    -- Partitions are reached through their table alone, and have no separate rights.
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p', 'v') and not c.relispartition
      -- Without its own row and without any right: made before the role existed.
      and (a.table_name is not null or not has_table_privilege('${appRole}', c.oid, 'select'))
      -- What is right is left alone: every session on the server reloads a table whose rights were written.
      and (a.table_name is null
        or array(select lower(x.privilege_type) from aclexplode(c.relacl) x where x.grantee = app and not x.is_grantable order by 1)
          <> array(select p[1] from regexp_matches(a.privileges, right_of, 'g') p where p[2] is null order by 1)
        or array(select lower(x.privilege_type) || ' ' || t.attname from pg_attribute t, aclexplode(t.attacl) x
            where t.attrelid = c.oid and x.grantee = app order by 1)
          <> array(select p[1] || ' ' || trim(name) from regexp_matches(a.privileges, right_of, 'g') p,
            unnest(string_to_array(p[2], ',')) name order by 1))
  loop
    execute format('revoke all on %s from ${appRole}', found.name);
    execute format('grant %s on %s to ${appRole}',
      coalesce(found.privileges, 'select, insert, update, delete'), found.name);
  end loop;
  for found in select c.oid::regclass as name from pg_class c
    where c.relnamespace = 'public'::regnamespace and c.relispartition and c.relkind = 'r'
      and (exists (select from aclexplode(c.relacl) x where x.grantee = app)
        or exists (select from pg_attribute t, aclexplode(t.attacl) x where t.attrelid = c.oid and x.grantee = app))
  loop
    execute format('revoke all on %s from ${appRole}', found.name);
  end loop;
  for found in select c.oid::regclass as name from pg_class c
    -- Asked about sequences only: joined with pg_sequence, each was asked about once for every table and index.
    where c.relnamespace = 'public'::regnamespace and case c.relkind when 'S' then not has_sequence_privilege(app, c.oid, 'usage') end
  loop
    execute format('grant usage on sequence %s to ${appRole}', found.name);
  end loop;
end $$`
