-- How much of a series a wallet has is asked with every purchase: its own rows answer, not those of the whole series.
drop index option_position_open;
create index option_position_open on option_position (symbol, holder) where state in ('held', 'open');
