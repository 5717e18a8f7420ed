-- Money for options that bought nothing is looked for all the time; there is little of it among all payments.
create index payment_credited on payment (route_id) where state = 'credited';
drop index option_position_released;
