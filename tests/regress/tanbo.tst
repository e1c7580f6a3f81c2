# For gogui-regress, the engine started with --nodes 200 --seed 1. A test is a numbered
# command; the line below it is the whole answer as a regular expression.

# Identity
10 protocol_version
#? [2]
20 name
#? [tanbo-engine]
30 known_command genmove
#? [true]
40 known_command set_free_handicap
#? [false]
50 gogui-rules_game_id
#? [Tanbo]

# The default start and the rules of placing
60 boardsize 7
#? []
70 clear_board
#? []
80 gogui-rules_board_size
#? [7]
90 gogui-rules_side_to_move
#? [black]
100 tanbo-position
#? [7x7 X1O1X1O/7/O1X1O1X/7/X1O1X1O/7/O1X1O1X b]
110 gogui-rules_captured_count
#? [0 0]
120 tanbo-perft 1
#? [24]
130 tanbo-perft 3
#? [12972]
140 play b A2
#? []
150 undo
#? []

# Set-ups
160 tanbo-setup classic-9x9
#? []
170 tanbo-position
#? [9x9 9/1O5X1/9/9/9/9/9/1X5O1/9 b]
180 tanbo-legal_moves b
#? [A2 B1 B3 C2 G8 H7 H9 J8]
190 tanbo-legal_moves w
#? [A8 B7 B9 C8 G2 H1 H3 J2]
200 tanbo-perft 4
#? [5776]
210 boardsize 5
#? []
220 tanbo-position
#? [5x5 O3X/5/5/5/X3O b]
230 boardsize 19
#? []
240 tanbo-perft 2
#? [576]
250 rectangular_boardsize 7 9
#? []
260 gogui-rules_board_size
#? [7 9]

# Positions that are loaded
270 tanbo-position 3x3 X1O/3/O1X w
#? []
280 gogui-rules_side_to_move
#? [white]
290 tanbo-roots
#? [black C1 : B1,C2.*white C3 : B3,C2]
300 tanbo-position
#? [3x3 X1O/3/O1X w]

# R6a: the current root alone, and the end
310 tanbo-position 3x5 X1O/3/O1X/3/X1O b
#? []
320 tanbo-perft 4
#? [1470]
330 gogui-play_sequence b A2 w A4 b B1
#? []
340 tanbo-explain C3
#? [C3 is not legal: it is occupied by a stone of Black's root C3\. \[R3\].*Sources: R3: all of S1-S14]
350 tanbo-rules R7
#? [No passing: One must place a stone, even if every move removes a root of one's own\. Who has a stone always has a move \(P2\)\. \[R7\].*Sources: R7: S3, S5-S7, S9, S11]

# A whole small game, searched to the end
360 tanbo-setup dense-3x3
#? []
370 tanbo-legal_moves
#? [A2 B1 B3 C2]
380 reg_genmove b
#? [A2|B1|B3|C2]
390 gogui-play_sequence b A2 w B1 b B3 w C2
#? []
400 tanbo-legal_moves
#? []
410 gogui-rules_legal_moves
#? []
420 gogui-setup b A1 w C3
#? []
430 tanbo-position
#? [3x3 2O/3/X2 b]
440 gogui-setup_player w
#? []
450 gogui-rules_side_to_move
#? [white]

# Settings and time
460 komi 6.5
#? []
470 kata-get-param nodes
#? [200]
480 time_settings 60 0 0
#? []
490 time_left b 30 0
#? []
500 kata-list_time_settings
#? [none absolute byoyomi canadian fischer fischer-capped]
