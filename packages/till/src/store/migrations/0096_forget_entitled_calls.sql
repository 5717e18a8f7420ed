-- Calls that came to nothing are forgotten after a time, and so are the answers that were kept for calls with a name.
update app_access set privileges = 'select, insert, update, delete' where table_name = 'entitled_call';
create index entitled_call_released on entitled_call (ended_at) where state = 'released';
create index entitled_call_named on entitled_call (ended_at) where state = 'captured' and idempotency_key is not null;
