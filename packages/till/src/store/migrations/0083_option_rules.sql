-- How a series is settled is part of what was sold: it stays as it was when the series was listed, whatever is set later.
alter table option_series
  add column window_ms bigint check (window_ms > 0),
  add column agents_min integer check (agents_min > 0),
  add column extensions_max integer check (extensions_max >= 0);
