-- Names given under a mandate or with a pass are stored with a space, which no Idempotency-Key can have: the owner of the
-- mandate, or another pass of the same wallet, cannot send one that is equal.
update entitled_call set idempotency_key = 'mandate ' || substr(idempotency_key, length('mandate:') + 1)
  where port = 'credit' and mandate_id is not null and idempotency_key ~ '^mandate:[0-9a-f]{64}$';
update entitled_call
  set idempotency_key = 'pass ' || encode(sha256(convert_to(subject || ' ' || idempotency_key, 'UTF8')), 'hex')
  where port = 'pass' and idempotency_key is not null;
