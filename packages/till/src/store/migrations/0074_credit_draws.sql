-- Holds credit for many calls at once: the nonce of each proof, the counters of its mandate, the balance, the row of the
-- call and the posting are one statement, so that they happen together or not at all. A call that cannot be held says why
-- and leaves the others alone.
-- Candidates are places in the pool of credit accounts, best first, separated by blanks. Runs with the owner's right, for
-- balances must be locked before they are judged, and the application itself may not touch them.
create function credit_hold(
  hold_ids text[], hold_accounts text[], hold_candidates text[], hold_amounts bigint[], hold_routes text[],
  hold_fingerprints text[], hold_keys text[], hold_clearing boolean[], hold_mandates text[],
  nonce_keys text[], nonce_expiries timestamptz[],
  pool_credits text[], pool_helds text[], pool_networks text[], pool_units text[],
  now_at timestamptz, until_at timestamptz
) returns table (place integer, outcome text, network text, left_micro bigint) language plpgsql
  security definer set search_path = public, pg_temp set enable_seqscan = off set enable_mergejoin = off as $$
#variable_conflict use_column
declare
  hold_count integer := coalesce(array_length(hold_ids, 1), 0);
  today date := (now_at at time zone 'utc')::date;
  counted_day date;
  fresh boolean[];
  credit_ids bigint[];
  owed bigint[];
  outcomes text[] := array_fill(null::text, array[hold_count]);
  chosen integer[] := array_fill(null::integer, array[hold_count]);
  lefts bigint[] := array_fill(null::bigint, array[hold_count]);
  days date[] := array_fill(null::date, array[hold_count]);
  terms mandate%rowtype;
  posted integer := 0;
  post_references text[] := '{}';
  line_owners integer[] := '{}';
  line_accounts integer[] := '{}';
  line_amounts bigint[] := '{}';
  used integer[] := '{}';
  used_place integer;
  candidate integer;
begin
  -- Not waited for on its way to disk: nothing leaves the node before the capture, whose own commit writes all that came
  -- before it. A hold that a crash loses has lost its nonce and its counts with it, and nobody was served.
  perform set_config('synchronous_commit', 'off', true);

  with claimed as (
    insert into nonce_claim (scope, key, expires_at)
      select 'erc8128', n.key, max(n.expires) from unnest(nonce_keys, nonce_expiries) n (key, expires)
      group by n.key order by n.key
      on conflict do nothing returning key
  )
  select array_agg(c.key is not null and n.nth = 1 order by n.place) into fresh
    from (select k.key, k.place, row_number() over (partition by k.key order by k.place) as nth
          from unnest(nonce_keys) with ordinality k (key, place)) n
    left join claimed c on c.key = n.key;

  if array_length(array_remove(hold_mandates, null), 1) > 0 then
    perform from mandate m where m.id = any (hold_mandates) order by m.id for no key update;
  end if;
  select array_agg((select a.id from ledger_account a where a.name = p.name) order by p.place) into credit_ids
    from unnest(pool_credits) with ordinality p (name, place);
  -- Accounts of held credit are younger than the credit they came from, so locking them later keeps the order.
  perform from ledger_balance b where b.account_id = any (credit_ids) order by b.account_id for no key update;
  select array_agg((select b.owed_micro from ledger_balance b where b.account_id = c.id) order by c.place) into owed
    from unnest(credit_ids) with ordinality c (id, place);

  for i in 1 .. hold_count loop
    if not fresh[i] then
      outcomes[i] := 'replayed';
      continue;
    end if;
    if hold_keys[i] is not null and exists (
      select from entitled_call e where e.port = 'credit' and e.account = hold_accounts[i]
        and e.idempotency_key = hold_keys[i] and e.state <> 'released') then
      outcomes[i] := 'named';
      continue;
    end if;
    counted_day := null;
    if hold_mandates[i] is not null then
      select m.* into terms from mandate m where m.id = hold_mandates[i];
      counted_day := greatest(terms.day, today);
      if terms.day < counted_day then
        terms.day_micro := 0;
      end if;
      outcomes[i] := case
        when terms.id is null then 'mandate_unknown'
        when terms.revoked_at is not null then 'mandate_revoked'
        when terms.valid_until <= now_at then 'mandate_expired'
        when hold_amounts[i] > terms.cap_call_micro then 'mandate_call'
        when terms.day_micro + hold_amounts[i] > terms.cap_day_micro then 'mandate_day'
        when terms.total_micro + hold_amounts[i] > terms.cap_total_micro then 'mandate_total'
      end;
      if outcomes[i] is not null then
        lefts[i] := case outcomes[i] when 'mandate_day' then terms.cap_day_micro - terms.day_micro
          when 'mandate_total' then terms.cap_total_micro - terms.total_micro end;
        continue;
      end if;
    end if;
    foreach candidate in array string_to_array(hold_candidates[i], ' ')::integer[] loop
      if owed[candidate] >= hold_amounts[i] then
        chosen[i] := candidate;
        exit;
      end if;
    end loop;
    if chosen[i] is null then
      outcomes[i] := 'not_enough';
      continue;
    end if;
    -- A name may be taken by a hold of another process that is not committed yet; the rest is inserted together below.
    if hold_keys[i] is not null then
      insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, idempotency_key, state, held_at,
          expires_at, to_clearing, mandate_id, mandate_day)
        values (hold_ids[i], 'credit', hold_accounts[i], pool_networks[chosen[i]], hold_amounts[i], hold_routes[i],
          hold_fingerprints[i], hold_keys[i], 'held', now_at, until_at, hold_clearing[i], hold_mandates[i], counted_day)
        on conflict do nothing;
      if not found then
        outcomes[i] := 'named';
        chosen[i] := null;
        continue;
      end if;
    end if;
    days[i] := counted_day;
    if hold_mandates[i] is not null then
      update mandate m set day = counted_day, day_micro = terms.day_micro + hold_amounts[i],
          total_micro = m.total_micro + hold_amounts[i]
        where m.id = hold_mandates[i];
    end if;
    owed[chosen[i]] := owed[chosen[i]] - hold_amounts[i];
    lefts[i] := owed[chosen[i]];
    outcomes[i] := 'held';
    used_place := array_position(used, chosen[i]);
    if used_place is null then
      used := used || chosen[i];
      used_place := array_length(used, 1);
    end if;
    posted := posted + 1;
    post_references := post_references || ('credit_hold:' || hold_ids[i]);
    -- The held account of a used place stands behind all credit accounts of the posting; see below.
    line_owners := line_owners || array[posted, posted];
    line_accounts := line_accounts || array[used_place, -used_place];
    line_amounts := line_amounts || array[hold_amounts[i], -hold_amounts[i]];
  end loop;

  if posted > 0 then
    insert into entitled_call (id, port, account, subject, amount, route_id, fingerprint, state, held_at, expires_at, to_clearing,
        mandate_id, mandate_day)
      select h.id, 'credit', h.account, pool_networks[h.chosen], h.amount, h.route, h.fingerprint, 'held', now_at, until_at,
          h.clearing, h.mandate, h.day
        from unnest(hold_ids, hold_accounts, chosen, hold_amounts, hold_routes, hold_fingerprints, hold_keys, hold_clearing,
          hold_mandates, days) h (id, account, chosen, amount, route, fingerprint, key, clearing, mandate, day)
        where h.chosen is not null and h.key is null;
    perform ledger_post(
      (select array_agg(pool_credits[u.at] order by u.place) || array_agg(pool_helds[u.at] order by u.place)
         from unnest(used) with ordinality u (at, place)),
      array_fill('liability'::text, array[2 * array_length(used, 1)]),
      (select array_agg(pool_units[u.at] order by u.place) || array_agg(pool_units[u.at] order by u.place)
         from unnest(used) with ordinality u (at, place)),
      array_fill(true, array[2 * array_length(used, 1)]),
      post_references,
      array_fill('credit_hold'::text, array[posted]),
      array_fill(null::text, array[posted]),
      array_fill(''::text, array[posted]),
      line_owners,
      (select array_agg(case when l.account > 0 then l.account else array_length(used, 1) - l.account end order by l.place)
         from unnest(line_accounts) with ordinality l (account, place)),
      line_amounts);
  end if;

  return query
    select i.i, outcomes[i.i], pool_networks[chosen[i.i]], lefts[i.i] from generate_series(1, hold_count) i (i) order by i.i;
end $$;

-- For whoever reads balances and then decides by them: until the transaction ends nothing is posted to these accounts.
create function credit_lock(account_names text[]) returns table (name text, owed_micro bigint) language plpgsql
  security definer set search_path = public, pg_temp set enable_seqscan = off as $$
#variable_conflict use_column
begin
  perform from ledger_balance b
    where b.account_id = any (array(select a.id from ledger_account a where a.name = any (account_names)))
    order by b.account_id for no key update;
  return query select a.name, b.owed_micro from ledger_account a join ledger_balance b on b.account_id = a.id
    where a.name = any (account_names);
end $$;
