-- Ticks of an index belong to the method they were made by, and a series keeps the method it was listed under: what an
-- operator sets later makes another index beside it. Written as `tick:half-life`, both in milliseconds; empty for what is
-- older than this column and goes by the settings in force.
alter table option_tick add column method text not null default '',
  drop constraint option_tick_pkey, add primary key (method, cluster, at);
alter table option_tick_proof add column method text not null default '',
  drop constraint option_tick_proof_pkey, add primary key (method, at);
alter table option_series add column method text not null default '';
