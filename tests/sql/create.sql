-- How elicitations are created, and what a call finds of those before it.

LISTEN urlmode;

-- An elicitation is created once.
SELECT make(1), make(2, subject => 'bob');
SELECT make(1);
