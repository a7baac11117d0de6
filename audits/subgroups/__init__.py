"""Rules on attributes, and every group of people that they describe: what several audits search.

Implements section 4.1 of Zhang, Wang, Sun, Sun, "TestSGD: Interpretable Testing of Neural Networks Against
Subtle Group Discrimination" (2022): rules and frequent rule sets (Eq. 2, Algorithm 1), rules on the identity
terms of texts (Eq. 3, Table 1), the score of a group (Definition 4.1), its conservative margin (Eq. 7), and
one person's perturbation (section 4.3). What a search concludes is for the audits to say.
"""
