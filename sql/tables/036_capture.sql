-- What is captured later than it was authorised may name neither its checkout nor more than
-- the payment: the event that said that it was authorised has named both.

SET LOCAL ROLE :"owner";

ALTER TABLE urlmode.event ADD COLUMN checkout urlmode.reference;
COMMENT ON COLUMN urlmode.event.checkout IS
	'Of processing: the checkout that it names, for a capture that does not. NULL: the event does '
	'not name it, or is another one.';

COMMENT ON COLUMN urlmode.refund.payment IS
	'The reference of the payment, which may be proved later. NULL: the provider did not name it, '
	'and no payment was proved or several were, or it has named another elicitation since. '
	'Then it holds all payments of the elicitations.';
